"""What is asked of a dataframe library, and the answers of pandas and cuDF."""
