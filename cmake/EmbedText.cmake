# Text files as constants of a C file: cmake -DOUT=a.c -DHEADER=a.h -DNAMES=x;y -DFILES=x.css;y.js -P EmbedText.cmake
set(text "/* Made by cmake/EmbedText.cmake. */\n#include \"${HEADER}\"\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
	file(READ ${file} hex HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
	string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}")
	string(APPEND text "\nconst char ${name}[] = {${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
