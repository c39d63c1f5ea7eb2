"""One module per `ggp` command, each with a click command called `command`."""
