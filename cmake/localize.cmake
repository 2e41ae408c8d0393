# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# cmake -DNM=... -DOBJCOPY=... -DOBJECT=... -P localize.cmake: leaves moemesh_* global in the object and nothing else.

# objcopy does not hide unique symbols (u), which would also be one for the whole process; weak ones it hides.
execute_process(COMMAND "${NM}" --defined-only "${OBJECT}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " u [^\n]+" unique "${symbols}")
list(TRANSFORM unique REPLACE " u " "")
list(JOIN unique "\n" unique)
file(WRITE "${OBJECT}.unique" "${unique}\n")
execute_process(COMMAND "${OBJCOPY}" "--weaken-symbols=${OBJECT}.unique" "${OBJECT}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${OBJCOPY}" --wildcard "--keep-global-symbol=moemesh_*" "${OBJECT}" COMMAND_ERROR_IS_FATAL ANY)
