#!/usr/bin/env bash
# compile.sh COMPILER ARGUMENTS...: the compiler, before which CMake puts this (CMAKE_C_COMPILER_LAUNCHER, set in tests/conftest.py).
# Tests build the library in a dozen trees, some of them elsewhere and for one test. What a compiler makes of a preprocessed source by
# the same flags is the same in all of them and is kept in build/objects; but no object with debug information, which has paths.
set -u
kept=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/build/objects
text=$kept/$$
plainly() {
  rm -f "$text" "$text.said"
  exec "$@"
}
flags=() warnings=() read=() source='' object='' compiles=''
all=("$@")
for ((i = 1; i < $#; i++)); do
  word=${all[i]} next=${all[i + 1]:-}
  case $word in
    -c) compiles=yes ;;
    -o) object=$next i=$((i + 1)) ;;
    -I* | -D* | -MD | -MMD) read+=("$word") ;; # the text has what these do
    -MT | -MF | -isystem | -include) read+=("$word" "$next") i=$((i + 1)) ;;
    -g* | -fsanitize* | -flto* | --coverage | -x) exec "$@" ;;
    -W*) warnings+=("$word") ;;
    -std=*) flags=("$word" ${flags[@]+"${flags[@]}"}) ;; # CMake's generators have it in different places
    -*) flags+=("$word") ;;
    *.c) [ -z "$source" ] || exec "$@"; source=$word ;;
    *) exec "$@" ;;
  esac
done
[ -n "$compiles" ] && [ -n "$source" ] && [ -n "$object" ] || exec "$@"
mkdir -p "$kept"
"$1" ${flags[@]+"${flags[@]}"} ${read[@]+"${read[@]}"} -E -P -o "$text" "$source" 2>"$text.said" && [ ! -s "$text.said" ] || plainly "$@"
compiler=$(stat -Lc '%d %i %s %Y' "$(command -v "$1")") || plainly "$@"
object_by() { # WARNING...: where the object is kept that was compiled with those
  local sum
  read -r sum _ < <({ printf '%s\n' "$compiler" ${flags[@]+"${flags[@]}"} "$@"; cat "$text"; } | sha256sum)
  echo "$kept/$sum.o"
}
found=$(object_by ${warnings[@]+"${warnings[@]}"})
[ -e "$found" ] && cp "$found" "$object" && plainly true
"$@" 2>"$text.said"
code=$?
cat "$text.said" >&2
if [ $code = 0 ] && [ ! -s "$text.said" ]; then # nothing to warn of: without warnings it is the same object
  for to in "$(object_by)" "$found"; do
    cp "$object" "$text.said" && mv "$text.said" "$to"
  done
fi
rm -f "$text" "$text.said"
exit $code
