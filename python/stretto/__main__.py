"""`python -m stretto` is the `stretto` command."""

from stretto.cli import main

if __name__ == "__main__":
    main()
