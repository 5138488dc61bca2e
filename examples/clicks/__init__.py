"""The parts of ``clicks_etl.py``: the click log, the questions, and their answers by plain pandas for a sample."""
