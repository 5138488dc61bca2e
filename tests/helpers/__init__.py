"""What tests of several rooms use: backends, strategies, versions; and what `make` runs."""
