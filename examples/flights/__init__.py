"""The parts of ``flights_etl.py``: the data, the questions, their answers by plain pandas, tables and pictures."""
