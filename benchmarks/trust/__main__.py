import sys

from benchmarks.trust.run import main

if __name__ == "__main__":
    sys.exit(main())
