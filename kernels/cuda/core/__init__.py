"""What all primitives on GPUs share: no primitive belongs here.

Read `plan`, plans and passes; `visitors`, which has one row a primitive; `source`, the generated parts of CUDA source;
`link`, an operator's functions; `ltoir`, their compiler; `build`, from a pass to a kernel; `packed`, kernels that
are built already; and `launch`, with `pinned`. Device sources: words.cuh, states.cuh and lookback.cuh. `tuning` has the
sizes that primitives share; each has more in its own folder.
"""
