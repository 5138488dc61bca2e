"""What all primitives on GPUs share: no primitive belongs here.

Read `plan`, plans and passes; `visitors`, one row for each primitive; `source`, the generated parts of CUDA source;
`link`, an operator's functions; `ltoir`, their compiler; `build`, from a pass to a kernel; `packed`, kernels that
were built before; and `launch`, with `pinned`. Device sources: words.cuh, states.cuh and lookback.cuh. `tuning` has the
sizes that primitives share; the folder of a primitive has its own.
"""
