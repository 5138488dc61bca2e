"""What users see: methods and functions that check their arguments and hand them on.

Nothing here computes. Read `accessor` first, then the folder of a theme: ``frame/``, ``groupby/``, ``windows/``,
``arrays/``, ``tables/`` or ``xarray/``. `accessors` puts them on what libraries have. `family` writes methods
of one signature once. Checks and types that several themes share are in `arguments` and `types`.
"""
