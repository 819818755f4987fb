"""Two opinions on one signal, held against each other."""
