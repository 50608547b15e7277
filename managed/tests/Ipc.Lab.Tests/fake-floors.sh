#!/bin/bash
# The floors program's answer, with figures that are easy to divide by. FAKE_FLOORS=broken fails instead, =lingering does not end; =moving says that
# from the eighth answer on everything is three times as far away; =moved-once that it was so in the third answer only; =restless that it is so for every
# other launch (the table, then two answers for each).
[ "$FAKE_FLOORS" = broken ] && { echo "no second CPU" >&2; exit 4; }
[ "$FAKE_FLOORS" = lingering ] && { exec >&-; sleep 60; }
far=1
if [ -n "$FAKE_FLOORS_COUNT" ]; then
  echo >> "$FAKE_FLOORS_COUNT"; mapfile -t asked < "$FAKE_FLOORS_COUNT"; answers=${#asked[@]}
  [ "$FAKE_FLOORS" = moving ] && [ "$answers" -ge 8 ] && far=3
  [ "$FAKE_FLOORS" = restless ] && [ $((answers / 2 % 2)) = 1 ] && [ "$answers" -gt 1 ] && far=3
  [ "$FAKE_FLOORS" = moved-once ] && [ "$answers" = 3 ] && far=3
fi
echo '{"cacheline_rtt_ns":'$((100 * far))',"futex_rtt_ns":800,"pipe_rtt_ns":700,"unix_rtt_ns":500,"memcpy_bytes_per_s":1e10,"clock_ns":20,
"oneway_ns":{"32":{"single":4,"batch":1}},"slot_rtt_ns":{"64":200,"1k-10k":'$((400 * far))'},"pipe_rtt_ns_by_workload":{"1k-10k":900},"unix_rtt_ns_by_workload":{"1k-10k":600},"futex_rtt_ns_by_workload":{"1k-10k":1000}}'
