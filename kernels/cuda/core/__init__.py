"""What all primitives on GPUs share: no primitive belongs here.

Read `plan`, what is run; `visitors`, which has one row a primitive; `source`, the generated parts of CUDA source;
`link`, an operator's functions; `ltoir`, what compiles them; `build`, from a pass to a kernel; `packed`, kernels that
are built already; and `launch`, with `pinned`. Device sources: words.cuh, states.cuh and lookback.cuh. `tuning` has the
sizes that primitives share; each has more in its own folder.
"""
