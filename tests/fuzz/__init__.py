"""Fuzzers: what they draw at random, what they compare it with, and how they are run; the command is __main__."""
