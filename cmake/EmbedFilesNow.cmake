# The script behind judder_embed.
set(text "#include \"${HEADER}\"\n\nnamespace ${SPACE} {\n")
foreach(pair ${PAIRS})
  string(REGEX REPLACE "=.*$" "" name "${pair}")
  string(REGEX REPLACE "^[^=]*=" "" file "${pair}")
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "static constexpr unsigned char ${name}_bytes[] = {${bytes}0};\n"
    "std::string_view ${name}() { return {reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes - 1}; }\n")
endforeach()
string(APPEND text "}\n")
file(WRITE "${OUTPUT}" "${text}")
