# Sourced by the scripts that run a suite of several parts: what each took is printed at the end, and one that fails does
# not keep the others from being run.
part_lines=() failed_parts=()
beside_pid='' beside_name='' beside_log=''

note_part() {  # name, seconds, exit code
  part_lines+=("$(printf '%-44s %4d:%02d  %s' "$1" $(($2 / 60)) $(($2 % 60)) "$([ "$3" = 0 ] && echo ok || echo FAILED)")")
  [ "$3" = 0 ] || failed_parts+=("$1")
}

# part NAME COMMAND...
part() {
  local name="$1" start="$SECONDS" code=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || code=$?
  note_part "$name" $((SECONDS - start)) "$code"
  return 0
}

# The same of what nothing else can go on without.
needed_part() {
  part "$@"
  [ ${#failed_parts[@]} = 0 ] || end_of_parts
}

# Runs a part beside those that follow, with less right to the cores, until join_part. Its output waits till then.
part_beside() {  # name, command...
  beside_name="$1" beside_log="$(mktemp)"
  shift
  set -m  # a process group of its own, to end all of it
  { start="$SECONDS" code=0; nice -n 10 "$@" || code=$?; echo "$((SECONDS - start)) $code" >"$beside_log.end"; } >"$beside_log" 2>&1 &
  beside_pid=$!
  set +m
  trap 'kill -- "-$beside_pid" 2>/dev/null; rm -f "$beside_log" "$beside_log.end"' EXIT
}

join_part() {
  local seconds code
  wait "$beside_pid" || true
  printf '\n== %s (beside)\n' "$beside_name"
  cat "$beside_log"
  read -r seconds code <"$beside_log.end"
  note_part "$beside_name (beside)" "$seconds" "$code"
  rm -f "$beside_log" "$beside_log.end"
  trap - EXIT
}

end_of_parts() {
  printf '\n%-44s %7s\n' 'what took how long' 'min:s'
  printf '%s\n' "${part_lines[@]}"
  printf '%-44s %4d:%02d\n' 'all' $((SECONDS / 60)) $((SECONDS % 60))
  [ ${#failed_parts[@]} = 0 ] && exit 0
  printf 'failed: %s\n' "${failed_parts[@]}" >&2
  exit 1
}
