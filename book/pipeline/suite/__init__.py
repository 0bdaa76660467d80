"""The suite behind `make check` and `make test`: its steps, how they run, what is remembered."""
