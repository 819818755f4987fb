"""`python -m spatial_engine`: the command line."""

from spatial_engine.cli.main import main

if __name__ == "__main__":
    main()
