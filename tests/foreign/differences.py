"""What tests of other libraries find otherwise here, and why: tests that do not pass, and what is refused."""

import re

PANDAS: dict[str, tuple[str, ...]] = {
    "compares sums of floats bit by bit; ours are added in four lanes, and differ in the last bit": (
        "series.test_cumulative::TestSeriesCumulativeOps::test_datetime_series[cumsum]",
    ),
    "asks which line a warning names; a line of this runner stands between": (
        "frame.methods.test_shift::TestDataFrameShift::test_shift_invalid_fill_value_deprecation",
        "frame.methods.test_sort_values::test_sort_values_inplace_depr",
        "series.methods.test_sort_values::test_sort_values_inplace_depr",
        "groupby.test_cumulative::test_kwargs_deprecated",
        "window.test_rolling::test_rolling_descending_date_order_with_offset",
    ),
    "asks whether an answer shares memory, or whether a copy is written to; ours are always copies": (
        "frame.methods.test_interpolate::TestDataFrameInterpolate::test_interp_basic",
        "frame.methods.test_interpolate::TestDataFrameInterpolate::test_interp_inplace",
    ),
    "method='pad' is taken here; pandas 3 has ffill in its place": (
        "frame.methods.test_interpolate::TestDataFrameInterpolate::test_interp_fillna_methods[0-pad",
        "frame.methods.test_interpolate::TestDataFrameInterpolate::test_interp_fillna_methods['index'-pad",
        "series.methods.test_interpolate::TestSeriesInterpolateData::test_interp_limit_area_with_pad",
        "series.methods.test_interpolate::TestSeriesInterpolateData::test_interp_datetime64[pad]",
        "series.methods.test_interpolate::TestSeriesInterpolateData::test_interp_pad_datetime64tz_values",
    ),
    "an index of Arrow's dates is one of times here": (
        "series.methods.test_interpolate::TestSeriesInterpolateData::"
        "test_interpolate_arrow_date_index_not_treated_as_datetime",
    ),
    "covariances of values that share an offset of 1e10 and more have fewer digits": (
        "window.test_pairwise::test_rolling_cov_corr_outlier_exit[10000000000000.0",
        "window.test_pairwise::test_rolling_cov_corr_shared_offset",
    ),
    "objects are counted, with numeric_only too": (
        "window.test_rolling::test_numeric_only_series[count-True-object]",
        "window.test_expanding::test_numeric_only_series[count-True-object]",
    ),
    "the names of no columns are of dtype object": (
        "window.test_expanding::test_moment_functions_zero_length[<lambda>1]",
        "window.test_expanding::test_moment_functions_zero_length[<lambda>2]",
        "window.test_rolling_functions::test_moment_functions_zero_length[<lambda>1]",
        "window.test_rolling_functions::test_moment_functions_zero_length[<lambda>2]",
    ),
}
"""Reasons, each with tests from their modules on; what stands behind a bracket is a part of the parameters."""

CUT: dict[str, tuple[str, ...]] = {
    "one value for three rows is one value a row in each of three partitions": (
        "frame.methods.test_sort_values::TestDataFrameSortKey::test_changes_length_raises",
    ),
    "compares sums of floats bit by bit; ours are added in another order": (
        "series.test_cumulative::TestSeriesCumulativeOps::test_datetime_series[cumprod]",
    ),
    "integers of groups are floats where a key can be null: dtypes are known before values are": (
        "groupby.test_cumulative::test_groupby_cumprod",
        "groupby.test_cumulative::test_groupby_cumprod_overflow",
    ),
    "pandas writes to a copy of a frame that an error still holds": (
        "frame.methods.test_interpolate::TestDataFrameInterpolate::test_interp_with_non_numeric",
    ),
}
"""The same, of frames of pandas that are cut into partitions of few rows."""

_FRAMES = "dataframe.tests.test_dataframe"
_COLLECTION = "dataframe.dask_expr.tests.test_collection"
_SHUFFLE = "dataframe.dask_expr.tests.test_shuffle"
_GROUPS = "dataframe.tests.test_groupby"
_GROUPBY = "dataframe.dask_expr.tests.test_groupby"
_ASOF = "dataframe.tests.test_multi::test_merge_asof"

DASK: dict[str, tuple[str, ...]] = {
    "asks how Dask splits a reduction or a shuffle; ours has no such argument": (
        f"{_FRAMES}::test_drop_duplicates",
        f"{_FRAMES}::test_value_counts",
        f"{_FRAMES}::test_value_counts_with_dropna",
        f"{_FRAMES}::test_value_counts_with_normalize",
        f"{_FRAMES}::test_value_counts_with_normalize_and_dropna",
        f"{_FRAMES}::test_nlargest_nsmallest",
        f"{_FRAMES}::test_split_out_drop_duplicates",
        f"{_FRAMES}::test_split_out_value_counts",
        f"{_COLLECTION}::test_drop_duplicates_split_out",
        f"{_COLLECTION}::test_split_out_drop_duplicates",
        f"{_GROUPBY}::test_groupby_nunique",
        f"{_GROUPBY}::test_groupby_median",
    ),
    "asks which expressions of Dask's own an answer is optimised to": (
        f"{_COLLECTION}::test_drop_duplicates_subset_simplify",
        f"{_COLLECTION}::test_reset_index_filter_pushdown",
        f"{_SHUFFLE}::test_shuffle_filter_pushdown",
        f"{_SHUFFLE}::test_sort_head_nlargest",
        f"{_SHUFFLE}::test_sort_tail_nsmallest",
        f"{_SHUFFLE}::test_sort_values_conflicting_ascending_head_tail",
        f"{_SHUFFLE}::test_sort_values_avoid_overeager_filter_pushdown",
        f"{_GROUPBY}::test_groupby_ffill_bfill",
        "dataframe.tseries.tests.test_resample_expr::test_resample_apis",
    ),
    "asks for an error, or for a warning, where ours has the answer": (
        f"{_FRAMES}::test_ffill",
        f"{_FRAMES}::test_bfill",
        f"{_COLLECTION}::test_ffill_bfill_all_nan_partition",
        f"{_COLLECTION}::test_drop_duplicates[",
        "dataframe.tests.test_rolling::test_rolling_partition_size",
        "dataframe.dask_expr.tests.test_rolling::test_rolling_raises",
        "dataframe.tseries.tests.test_resample::"
        "test_resample_throws_error_when_partition_index_does_not_match_index",
        "array.tests.test_reductions::test_array_cumreduction_axis[blelloch-None",
    ),
    "asks for divisions; those of buckets of time are not known before they are computed": (
        "dataframe.tseries.tests.test_resample::test_series_resample",
        "dataframe.tseries.tests.test_resample_expr::test_series_resample",
        "dataframe.tseries.tests.test_resample_expr::test_resample_divisions_propagation",
    ),
    "integers of the right side are nullable: dtypes are known before matches are": (
        f"{_ASOF}_left_on_right_index",
        f"{_ASOF}_on",
        f"{_ASOF}_with_empty",
    ),
    "answers of windows of groups have the order of the rows, and not of the groups": (
        f"{_GROUPBY}::test_groupby_rolling",
        f"{_GROUPBY}::test_rolling_groupby_projection",
    ),
    "compares the names of graphs; ours cast integers that can be null to the floats of Dask": (
        "dataframe.dask_expr.tests.test_rolling::test_rolling_apis[min-",
        "dataframe.dask_expr.tests.test_rolling::test_rolling_apis[max-",
    ),
    "quantiles and nunique have groups in the order of their keys, and refuse sort=False": (
        f"{_GROUPS}::test_groupby_reduction_split[",
        f"{_GROUPS}::test_dataframe_aggregations_multilevel[",
    ),
    "equal values keep their order; pandas sorts otherwise unless it is told": (
        f"{_SHUFFLE}::test_set_index_sort_values_one_partition",
    ),
}

TESTS: dict[str, dict[str, tuple[str, ...]]] = {
    "pandas": PANDAS,
    "Dask": DASK,
    "cuDF": {
        "nth is called, and takes no brackets": ("groupby.test_nth::test_nth_selector_indexing",),
        "a method of ranks that is not there is a ValueError": (
            "dataframe.methods.test_rank::test_rank_error_arguments",
        ),
        "sums of short integers of groups are of 64 bits": (
            "groupby.test_cummulative::test_groupby_cumscan_masked_dtype_preserved",
        ),
    },
    "CuPy": {
        "arrays of NumPy are scanned too": (
            "cupy_tests.math_tests.test_sumprod::TestCumsum::test_cumsum_numpy_array",
            "cupy_tests.math_tests.test_sumprod::TestCumprod::test_cumprod_numpy_array",
        ),
        "calls of CUB's functions are counted, and ours calls none": (
            "cupy_tests.math_tests.test_sumprod::TestCubReduction::test_cub_cumsum",
            "cupy_tests.math_tests.test_sumprod::TestCubReduction::test_cub_cumprod",
        ),
    },
}
"""By library."""

REFUSALS = {
    r"subset=.* is not a column": "a name that is not there is a ValueError",
    r"holds no lists": "lists are columns of Arrow or of cuDF, and no Python objects",
    r"dtype object is not a (real )?number": "objects are to be cast to numbers first",
    r"unhashable type": "values that have no hash have no rank",
    r"other must have (as many rows|the)": "pairs are of rows beside each other; pandas aligns labels",
    r"is there twice": "columns are told apart by their names",
    r"names of columns must have one level": "pairs of columns add a level to one level of names",
    r"needs adjust=True": "no covariances by ewm without adjust",
    r"must not decrease|index must have no nulls": "distances and windows of time need an order",
    r"windows of time need datetimes": "periods, and empty indexes of another dtype, are no times",
    r"on=.* is not a column": "times are those of a column or of the index",
    r"periods must be an integer, found": "periods is one integer, and no float",
    r"ascending must be True, False": "a flag is True or False, anything else a TypeError",
    r"limit_direction must be one of": "choices are in lower case",
    r"fill_value must be a scalar": "a fill value is a scalar",
    r"cannot hold the fill_value \[": "a fill value is a scalar",
    r"compound dtypes are not implemented": "void dtypes are not shifted",
    r"agg takes (names of reductions|the name of a method)": "functions are no reductions",
    r"func must be an operator made by": "functions of windows are operators",
    r"freq must be a duration or a rule .* found 'infer'": "freq is given, and not inferred",
    r"freq moves labels that are": "periods are no times",
    r"freq must be None, found .*: rows are compared, not labels": "rows are compared, and not labels",
    r"'C' is not a column; columns are 'A', 'B'$": "the column of times has no statistics",
    r"other must be a Series or DataFrame": "arrays are no columns",
    r"q must be a number from 0 to 1": "a quantile that is no number is a ValueError",
}
"""Messages of ours, and the reason why there is no answer, in the tests of any library."""

REFUSALS_OF: dict[str, dict[str, str]] = {
    "cuDF": {
        r"dtype (category|decimal\d+) is not a (real )?number": (
            "categories and decimals are to be cast to numbers first"
        ),
        r"limit must be a positive integer": "a limit is at least 1",
        r"found a frame without columns": "rows without columns are not told apart",
        r"No module named 'numba_cuda_mlir'": "cuDF compiles functions by a package that is not there",
    },
}
"""The same, in the tests of one library."""


def reason_for(test: str, parameters: str, library: str, cut: str) -> str | None:
    """Return why a test of a library does not pass; None if it should."""
    reasons = TESTS[library] | (CUT if cut != "whole" else {})
    for reason, tests in reasons.items():
        for known in tests:
            path, _, some = known.partition("[")
            if path == test and some in parameters:
                return reason
    return None


def listed(library: str) -> set[str]:
    """Return the tests of a library that are known to differ, without their parameters."""
    return {test.partition("[")[0] for tests in TESTS[library].values() for test in tests}


def refusal_for(error: Exception, library: str) -> str | None:
    """Return why ours refuse what an error of a library's test tells of; None if they should not."""
    message, refusals = str(error), REFUSALS | REFUSALS_OF.get(library, {})
    return next((why for words, why in refusals.items() if re.search(words, message)), None)
