#!/usr/bin/env bash
# Compares the client of the working tree with that of an earlier commit, and prints the ratios through benchstat.
#
#   ./compare.sh COMMIT [part ...]     parts: call page walk; without one, all
#
# The two take turns, a process each, so that what else the machine does hits both alike; each commit brings its own
# benchmarks. ROUNDS changes how many rounds there are (12).
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
rounds=${ROUNDS:-12}
commit=$1
shift
parts=("$@")
((${#parts[@]})) || parts=(call page walk)

earlier=$(mktemp -d)
trap 'git worktree remove --force "$earlier"' EXIT
git worktree add --quiet --detach "$earlier" "$commit"
mkdir -p raw
bench=$earlier/$(dirname "$(git -C "$earlier" ls-files '*bench/compare.sh')")
(cd "$bench" && go test -c -o bench.test .)
go test -c -o raw/bench.test .

turn() { "$1" -test.run '^$' -test.bench "$2" -test.benchtime "$3" -test.timeout 15m >>"$4"; }
rm -f raw/before-*.txt raw/after-*.txt
for ((i = 1; i <= rounds; i++)); do
	for part in "${parts[@]}"; do
		case $part in
		call) time=16000x of='^BenchmarkCall$/op/tls/callers/^client=cardgateway$' ;;
		page) time=100x of='^BenchmarkDecode$/rows/^client=cardgateway$' ;;
		walk) time=1x of='^BenchmarkWalk$/^months=12$/tls/delay/^client=cardgateway' ;;
		*)
			echo "no such part: $part" >&2
			exit 2
			;;
		esac
		if ((i % 2)); then
			turn "$bench/bench.test" "$of" "$time" "raw/before-$part.txt"
			turn raw/bench.test "$of" "$time" "raw/after-$part.txt"
		else
			turn raw/bench.test "$of" "$time" "raw/after-$part.txt"
			turn "$bench/bench.test" "$of" "$time" "raw/before-$part.txt"
		fi
	done
done
cat raw/before-*.txt >raw/before.txt
cat raw/after-*.txt >raw/after.txt
go tool benchstat -ignore pkg raw/before.txt raw/after.txt # an earlier commit may have the benchmarks in another module
