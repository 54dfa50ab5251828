#!/usr/bin/env bash
# Measures the client beside the others, and prints the ratios through benchstat.
#
#   ./run.sh [part ...]     parts: call page walk; without one, all
#
# Each round is a process of its own in which the clients take turns in short blocks, so that what else the machine
# does hits all of them alike. ROUNDS changes how many rounds there are (20; walks take a fifth).
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off
rounds=${ROUNDS:-20}
parts=("$@")
((${#parts[@]})) || parts=(call page walk)

mkdir -p raw
go test -c -o raw/bench.test .

# measure <file> <rounds> <benchtime> <benchmarks>
measure() {
	: >"raw/$1.txt"
	for ((i = 1; i <= $2; i++)); do
		raw/bench.test -test.run '^$' -test.bench "$4" -test.benchtime "$3" -test.timeout 15m >>"raw/$1.txt"
	done
}

fewer=$(((rounds + 4) / 5))
for part in "${parts[@]}"; do
	case $part in
	call) measure call "$rounds" 2000x '^BenchmarkCall$' ;;
	page) measure page "$rounds" 20x '^BenchmarkDecode$' ;;
	walk) measure walk "$fewer" 1x '^BenchmarkWalk$/^months=12$' ;;
	*)
		echo "no such part: $part" >&2
		exit 2
		;;
	esac
done

order='hand hand-no-timeout cardgateway cardgateway-1 cardgateway-4 cardgateway-16 cardgateway-default limit stripe-go'
go tool benchstat -col "/client@($order)" raw/*.txt
