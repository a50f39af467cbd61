"""The REPL: statements and commands, typed, from a file or from a pipe."""
