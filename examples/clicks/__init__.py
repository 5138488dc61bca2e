"""The parts of ``clicks_etl.py``: the click log, the questions, and the answers of plain pandas for a sample."""
