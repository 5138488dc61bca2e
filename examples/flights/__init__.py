"""The parts of ``flights_etl.py``: the data, the questions, the answers of plain pandas, tables and pictures."""
