"""The Arrow schema of all tables of a stream: batches of one pandas dtype may have different Arrow types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def schema_for_all(first: pa.Schema) -> pa.Schema:
    """Return the schema of all batches of a stream, given that of the first.

    A column of nulls becomes texts, as most columns of objects are texts. Codes of categories become 32-bit integers,
    as later batches may have more categories.

    Examples
    --------
    >>> import pyarrow as pa
    >>> first = pa.schema([("a", pa.null()), ("b", pa.dictionary(pa.int8(), pa.string()))])
    >>> schema_for_all(first).types
    [DataType(string), DictionaryType(dictionary<values=string, indices=int32, ordered=0>)]
    """
    return pa.schema([field.with_type(_for_all(field.type)) for field in first], first.metadata)


def _for_all(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_dictionary(kind) and kind.index_type.bit_width < 32:
        return pa.dictionary(pa.int32(), kind.value_type, kind.ordered)
    return kind


def cast_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table to a schema.

    Raises
    ------
    ValueError
        If the table has other columns, or values that the schema cannot hold.
    """
    if table.column_names != schema.names:
        raise ValueError(
            f"columns, with named levels of the index, are {', '.join(schema.names)} as far as is known, and a batch "
            f"has {', '.join(table.column_names)}"
        )
    columns = [_cast(column, field) for column, field in zip(table.columns, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def cast_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of a schema from a batch, in the schema's order and types; missing columns are null.

    Raises
    ------
    ValueError
        If the schema cannot hold the values.
    """
    columns = []
    for field in schema:
        if field.name in batch.schema.names:
            column = _cast(batch.column(field.name), field, "say another type in schema=")
        else:
            column = pa.nulls(batch.num_rows, field.type)
        if column.null_count and not field.nullable:
            raise ValueError(f"column {field.name!r} has nulls, and schema= says that it has none")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def as_texts(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Cast the columns of texts of a batch to the types of texts in a schema."""
    for number, field in enumerate(batch.schema):
        known = schema.field(field.name).type if field.name in schema.names else field.type
        if known != field.type and is_text(known) and is_text(field.type):
            batch = batch.set_column(
                number, field.with_type(known), batch.column(number).cast(known)
            )
    return batch


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is one of Arrow's three types of texts."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _cast(column: Any, field: pa.Field, way_out: str = "cast it with astype") -> Any:
    try:
        if _holds(field.type, column.type):
            return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise ValueError(
        f"column {field.name!r} is of {field.type} as far as is known, and a batch has {column.type}; {way_out}"
    )


def _holds(known: pa.DataType, found: pa.DataType) -> bool:
    """Return whether a cast keeps the values: Arrow's cast drops fields of structs and turns numbers into texts."""
    if pa.types.is_struct(known) and pa.types.is_struct(found):
        fields = {field.name: field.type for field in known}
        return all(each.name in fields and _holds(fields[each.name], each.type) for each in found)
    if pa.types.is_list(known) and pa.types.is_list(found):
        return _holds(known.value_type, found.value_type)
    if is_text(known):
        found = found.value_type if pa.types.is_dictionary(found) else found
        return is_text(found) or pa.types.is_null(found)
    return not (pa.types.is_integer(known) and pa.types.is_floating(found))
