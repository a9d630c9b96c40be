# SPDX-License-Identifier: MIT
#
# Runs PROGRAM and compares what it prints with the file EXPECTED. An example that prints something
# else is an example that is described wrongly.
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "it ended with ${status} and printed:\n${printed}")
endif()
if(NOT "${printed}" STREQUAL "${expected}")
    message(FATAL_ERROR "it printed:\n${printed}\ninstead of ${EXPECTED}:\n${expected}")
endif()
