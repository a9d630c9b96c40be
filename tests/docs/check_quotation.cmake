# SPDX-License-Identifier: MIT
#
# Whether the text of the file BLOCK stands in the file ORIGIN; see CMakeLists.txt for what counts.
cmake_minimum_required(VERSION 3.24)

function(read_flat file result)
    file(READ ${file} text)
    string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}\n")
    set(${result} "${text}" PARENT_SCOPE)
endfunction()

read_flat(${BLOCK} block)
read_flat(${ORIGIN} origin)

set(gap "\n...\n")
string(REPLACE "\n// ...\n" "${gap}" block "${block}")
while(NOT block STREQUAL "")
    string(FIND "${block}" "${gap}" length)
    if(length EQUAL -1)
        set(part "${block}")
        set(block "")
    else()
        math(EXPR part_length "${length} + 1")
        math(EXPR next "${length} + 4")
        string(SUBSTRING "${block}" 0 ${part_length} part)
        string(SUBSTRING "${block}" ${next} -1 block)
    endif()
    string(FIND "${origin}" "${part}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "${ORIGIN} does not hold these lines, or not behind those before them:"
                            "${part}")
    endif()
    string(LENGTH "${part}" length)
    math(EXPR next "${place} + ${length} - 1")
    string(SUBSTRING "${origin}" ${next} -1 origin)
endwhile()
