#!/bin/sh
# Doxygen's input filter: turns the headers' plain comments into those that Doxygen reads. Headings of sections and of files stay plain.
exec sed -E -e 's,^/\* (-{3}|[a-z]+\.h),/* \1,; t' \
    -e 's,^(\s*)/\* ,\1/** ,' -e 's,([^ /].*[,;0-9A-Z] +)/\* (.*),\1/**< \2,' \
    -e 's,^(\s*)// ([^-]),\1/// \2,' -e 's,([;,] +)// ,\1///< ,' "$1"
