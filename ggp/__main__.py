"""`python -m ggp` is `ggp`."""

from ggp.cli.main import main

if __name__ == "__main__":
    main()
