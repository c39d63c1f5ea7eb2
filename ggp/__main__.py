"""`python -m ggp` is `ggp`."""

from ggp.cli import main

if __name__ == "__main__":
    main()
