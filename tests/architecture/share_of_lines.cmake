# SPDX-License-Identifier: MIT
#
# Lines of PART, a folder of the library, may be at most PERCENT of those of the whole.
cmake_minimum_required(VERSION 3.24)

function(count_lines result)
    set(count 0)
    foreach(file IN LISTS ARGN)
        file(READ ${file} text)
        string(REGEX MATCHALL "\n" ends "${text}")
        list(LENGTH ends ends)
        math(EXPR count "${count} + ${ends}")
    endforeach()
    set(${result} ${count} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE all ${ROOT}/reflection/*.h ${ROOT}/reflection/*.cpp ${ROOT}/replayout/*.h
     ${ROOT}/replayout/*.cpp ${ROOT}/netdriver/*.h ${ROOT}/netdriver/*.cpp)
file(GLOB_RECURSE part ${ROOT}/${PART}/*.h ${ROOT}/${PART}/*.cpp)
count_lines(all_lines ${all})
count_lines(part_lines ${part})
math(EXPR limit "${all_lines} * ${PERCENT} / 100")
message(STATUS "${PART}: ${part_lines} of ${all_lines} lines; ${PERCENT} % are ${limit}")
if(part_lines GREATER limit OR part_lines EQUAL 0)
    message(FATAL_ERROR "too many, or none")
endif()
