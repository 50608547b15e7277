#!/bin/bash
# A peer that speaks docs/peer-protocol.md but moves no message: ten operations of 1000 ns each.
# FAKE_PEER picks how it misbehaves, FAKE_PEER_SLOW which transport is how much slower (FAKE_PEER_PERCENT); FAKE_PEER_LOG, if set, gets one line per start.
mode=${FAKE_PEER:-right}
say() { printf '%s\n' "$1"; }
usage='"cpu_ns":%d,"voluntary_switches":%d,"involuntary_switches":0,"minor_faults":0,"major_faults":0,"memory_bytes":4096,"allocated_bytes":null,"collections":null'
usage_of() { printf "$usage" "$1" "$2"; }
number() { local rest=${cell#*\"$1\":}; printf '%s' "${rest%%[,\}]*}"; }
field() { local rest=${cell#*\"$1\":\"}; printf '%s' "${rest%%\"*}"; }

[ "$mode" = silent ] && { while read -r line; do :; done; exit 0; }
say "{\"event\":\"environment\",\"runtime\":\"fake\",\"compiler\":\"bash\",\"build\":\"${FAKE_PEER_BUILD:-release}\",\"library\":\"none\"}"
read -r cell || exit 1
role=$(field role)
[ -n "$FAKE_PEER_LOG" ] && printf '%s %s %s\n' "$$" "$role" "$cell" >> "$FAKE_PEER_LOG"
[ "$mode" = "dead-$role" ] && { echo "out of luck" >&2; exit 7; }
[ "$mode" = "garbage-$role" ] && { say 'Hello, world'; sleep 60; }
[ "$mode" = "endless-$role" ] && { exec cat /dev/zero; }
[ "$mode" = "hang-$role" ] && { trap '' TERM INT; while :; do sleep 1; done; }
launch=0; [ -n "$FAKE_PEER_LOG" ] && launch=$(grep -c "^[0-9]* $role " "$FAKE_PEER_LOG")
[ "$mode" = third-launch ] && [ "$role" = client ] && [ "$launch" = 3 ] && mode=failed-client
[ "$mode" = "failed-$role" ] && { say '{"event":"failed","status":"WRONG_CONTENT","reason":"exchange 3 came twice"}'; exit 1; }

case $(field scenario) in
  oneway | oneway-batch | fanin)
    # Every client sends 3 messages to warm up and 10 to be measured; the server takes two samples of 2000 ps.
    received() { printf '{"event":"received","operations":%d,"elapsed_ns":20,"bytes":320,"lost":0,"usage_before":{%s},"usage_after":{%s}}\n' "$1" "$(usage_of 0 0)" "$(usage_of 4000 0)"; }
    if [ "$role" = server ]; then
      clients=$(number clients)
      odd=0; [ "$mode" = losing-server ] && odd=-1; [ "$mode" = doubling-server ] && odd=1
      warm_odd=0; [ "$mode" = losing-early ] && warm_odd=-1
      say "{\"event\":\"ready\",\"address\":\"$(field address)\"}"
      received $((clients * 3 + warm_odd))
      printf '\xd0\x07\x00\x00\xd0\x07\x00\x00' > "$(field samples)"
      [ "$mode" = no-samples ] && : > "$(field samples)"
      received $((clients * 10 + odd))
      say '{"event":"served","operations":13}'
      while read -r line; do :; done
      exit 0
    fi
    [ "$mode" = dead-second ] && [ "$(number client)" = 1 ] && { echo "out of luck" >&2; exit 7; }
    say '{"event":"warm","operations":3,"cold_ns":70000}'
    while read -r line; do
      case $line in
        *go*) say "{\"event\":\"measured\",\"operations\":10,\"elapsed_ns\":20,\"bytes\":320,\"usage_before\":{$(usage_of 0 0)},\"usage_after\":{$(usage_of 1000 20)}}"; exit 0 ;;
      esac
    done
    exit 1 ;;
esac

count=10
case $mode in drifting | coarse | cheating) count=400 ;; esac

if [ "$role" = server ]; then
  say "{\"event\":\"ready\",\"address\":\"$(field address)\"}"
  served=$((count + 3)); [ "$mode" = lying-server ] && served=2
  looks=0
  while read -r line; do
    case $line in
      *usage*)
        say "{\"event\":\"usage\",$(usage_of $((looks * 13000)) $((looks * 26)))}"
        [ $looks = 0 ] && say "{\"event\":\"served\",\"operations\":$served}"
        looks=$((looks + 1)) ;;
    esac
  done
  exit 0
fi

samples=$(field samples)
write_samples() {
  # 1000 ns; over transport FAKE_PEER_SLOW that many per cent more, and then with a nanosecond or two of chance.
  local i ns
  for ((i = 0; i < count; i++)); do
    ns=1000
    [ -n "$FAKE_PEER_PERCENT" ] && case $(field address) in "$FAKE_PEER_SLOW"://*) ns=$((1000 + 10 * FAKE_PEER_PERCENT + RANDOM % 3)) ;; esac
    [ "$mode" = drifting ] && ns=$((1000 + i / 2))
    [ "$mode" = coarse ] && ns=$((i % 50 == 49 ? 1000000 : 0))
    [ "$mode" = stalling ] && [ "$launch" = 4 ] && [ $i = 5 ] && ns=100000000
    printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((ns & 255)) $((ns >> 8 & 255)) $((ns >> 16 & 255)) $((ns >> 24)))"
  done > "$samples"
  [ "$mode" = few-samples ] && printf '\xe8\x03\x00\x00' > "$samples"
}
elapsed=20000
[ $count = 400 ] && elapsed=9000000
[ "$mode" = stalling ] && [ "$launch" = 4 ] && elapsed=110000000
[ "$mode" = too-fast ] && elapsed=10; [ "$mode" = too-slow ] && elapsed=99000000000
measured="{\"event\":\"measured\",\"operations\":$count,\"elapsed_ns\":$elapsed,\"bytes\":110000,\"usage_before\":{$(usage_of 0 0)},\"usage_after\":{$(usage_of 50000 20)}}"
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
      [ $elapsed = 110000000 ] && sleep 0.12
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
