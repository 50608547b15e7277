#!/bin/bash
# A peer that speaks docs/peer-protocol.md but moves no message: ten operations of 1000 ns each.
# FAKE_PEER picks how it misbehaves, FAKE_PEER_SLOW which transport is how much slower (FAKE_PEER_PERCENT); FAKE_PEER_LOG, if set, gets one line per start.
mode=${FAKE_PEER:-right}
say() { printf '%s\n' "$1"; }
# These set a variable, number and field one of the name that the cell has: a subshell for each of them would take longer than all the rest.
usage_to() {
  printf -v "$1" '"cpu_ns":%d,"voluntary_switches":%d,"involuntary_switches":0,"minor_faults":0,"major_faults":0,"memory_bytes":4096,%s' "$2" "$3" \
    '"allocated_bytes":null,"collections":null'
}
number() { local rest=${cell#*\"$1\":}; printf -v "$1" '%s' "${rest%%[,\}]*}"; }
field() { local rest=${cell#*\"$1\":\"}; printf -v "$1" '%s' "${rest%%\"*}"; }
usage_to unused 0 0

[ "$mode" = silent ] && { while read -r line; do :; done; exit 0; }
say "{\"event\":\"environment\",\"runtime\":\"fake\",\"compiler\":\"bash\",\"build\":\"${FAKE_PEER_BUILD:-release}\",\"library\":\"none\"}"
read -r cell || exit 1
for name in role scenario address samples; do field "$name"; done
[ -n "$FAKE_PEER_LOG" ] && printf '%s %s %s\n' "$$" "$role" "$cell" >> "$FAKE_PEER_LOG"
[ "$mode" = "dead-$role" ] && { echo "out of luck" >&2; exit 7; }
[ "$mode" = "speechless-$role" ] && { echo >&2; exit 7; }
[ "$mode" = "garbage-$role" ] && { say 'Hello, world'; sleep 60; }
[ "$mode" = "endless-$role" ] && { exec cat /dev/zero; }
[ "$mode" = "hang-$role" ] && { trap '' TERM INT; while :; do sleep 1; done; }
launch=0; case $mode in third-launch | stalling) launch=$(grep -c "^[0-9]* $role " "$FAKE_PEER_LOG") ;; esac
[ "$mode" = third-launch ] && [ "$role" = client ] && [ "$launch" = 3 ] && mode=failed-client
[ "$mode" = "failed-$role" ] && { say '{"event":"failed","status":"WRONG_CONTENT","reason":"exchange 3 came twice"}'; exit 1; }

case $scenario in
  oneway | oneway-batch | fanin)
    # Every client sends 3 messages to warm up and 10 to be measured; the server takes two samples of 2000 ps.
    usage_to used 4000 0
    received() { say "{\"event\":\"received\",\"operations\":$1,\"elapsed_ns\":20,\"bytes\":320,\"lost\":0,\"usage_before\":{$unused},\"usage_after\":{$used}}"; }
    if [ "$role" = server ]; then
      number clients
      odd=0; [ "$mode" = losing-server ] && odd=-1; [ "$mode" = doubling-server ] && odd=1
      warm_odd=0; [ "$mode" = losing-early ] && warm_odd=-1
      say "{\"event\":\"ready\",\"address\":\"$address\"}"
      received $((clients * 3 + warm_odd))
      printf '\xd0\x07\x00\x00\xd0\x07\x00\x00' > "$samples"
      [ "$mode" = no-samples ] && : > "$samples"
      received $((clients * 10 + odd))
      say '{"event":"served","operations":13}'
      while read -r line; do :; done
      exit 0
    fi
    number client
    [ "$mode" = dead-second ] && [ "$client" = 1 ] && { echo "out of luck" >&2; exit 7; }
    say '{"event":"warm","operations":3,"cold_ns":70000}'
    usage_to used 1000 20
    while read -r line; do
      case $line in
        *go*) say "{\"event\":\"measured\",\"operations\":10,\"elapsed_ns\":20,\"bytes\":320,\"usage_before\":{$unused},\"usage_after\":{$used}}"; exit 0 ;;
      esac
    done
    exit 1 ;;
esac

count=10
case $mode in drifting | coarse | cheating) count=400 ;; esac

if [ "$role" = server ]; then
  say "{\"event\":\"ready\",\"address\":\"$address\"}"
  served=$((count + 3)); [ "$mode" = lying-server ] && served=2
  looks=0
  while read -r line; do
    case $line in
      *usage*)
        usage_to used $((looks * 13000)) $((looks * 26))
        say "{\"event\":\"usage\",$used}"
        [ $looks = 0 ] && say "{\"event\":\"served\",\"operations\":$served}"
        looks=$((looks + 1)) ;;
    esac
  done
  exit 0
fi

write_samples() {
  # 1000 ns; over transport FAKE_PEER_SLOW that many per cent more, and then with a nanosecond or two of chance.
  local i ns sample
  for ((i = 0; i < count; i++)); do
    ns=1000
    [ -n "$FAKE_PEER_PERCENT" ] && case $address in "$FAKE_PEER_SLOW"://*) ns=$((1000 + 10 * FAKE_PEER_PERCENT + RANDOM % 3)) ;; esac
    [ "$mode" = drifting ] && ns=$((1000 + i / 2))
    [ "$mode" = coarse ] && ns=$((i % 50 == 49 ? 1000000 : 0))
    [ "$mode" = stalling ] && [ "$launch" = 4 ] && [ $i = 5 ] && ns=100000000
    printf -v sample '\\x%02x\\x%02x\\x%02x\\x%02x' $((ns & 255)) $((ns >> 8 & 255)) $((ns >> 16 & 255)) $((ns >> 24))
    printf "$sample"
  done > "$samples"
  [ "$mode" = few-samples ] && printf '\xe8\x03\x00\x00' > "$samples"
}
elapsed=20000
[ $count = 400 ] && elapsed=9000000
[ "$mode" = stalling ] && [ "$launch" = 4 ] && elapsed=110000000
[ "$mode" = too-fast ] && elapsed=10; [ "$mode" = too-slow ] && elapsed=99000000000
usage_to used 50000 20
measured="{\"event\":\"measured\",\"operations\":$count,\"elapsed_ns\":$elapsed,\"bytes\":110000,\"usage_before\":{$unused},\"usage_after\":{$used}}"
warm='{"event":"warm","operations":3,"cold_ns":70000}'
[ "$mode" = cheating ] && warm='{"event":"warm","operations":3,"cold_ns":70000,"settled":true,"p50_ns":400}'
say "$warm"
if [ "$role" = alone ]; then
  write_samples
  say '{"event":"phases","build_ns":1,"translate_ns":null,"encode_ns":2,"decode_ns":3,"traverse_ns":4,"request_bytes":1000,"reply_bytes":10000}'
  say "$measured"
  exit 0
fi
while read -r line; do
  case $line in
    *go*)
      [ -n "$FAKE_PEER_PAUSE" ] && sleep "$FAKE_PEER_PAUSE"
      # No less than it says that it took.
      case $elapsed in 9000000) sleep 0.01 ;; 110000000) sleep 0.12 ;; esac
      write_samples
      say "$measured"
      [ "$mode" = bad-exit ] && exit 3
      # With its streams, and in its group or in one of its own.
      [ "$mode" = leaves-process ] && { sleep 1000 & printf '%s left -\n' "$!" >> "$FAKE_PEER_LOG"; }
      [ "$mode" = leaves-session ] && { setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$FAKE_PEER_LOG.left" & }
      exit 0 ;;
  esac
done
exit 1
