#!/usr/bin/env bash
# One bit of the index flipped at a random place, ROUNDS=300 times, then the
# same in its WAL; bytes cut off, and pages of zeros. Whatever is asked then,
# no answer has a line that the sound index would not give; what is left out is
# found by verify --index; and the file does not stay as it is.

# shellcheck source=tests/stress/lib.bash
. "$(dirname "$0")/lib.bash"
need python3 sqlite3
ROUNDS=${ROUNDS:-300}
RUN=c3252a98

"$KISTORE" init store >out 2>err || die init
"$KISTORE" -C store put "$REPO/fixtures/liger-runs.jsonl" \
	"$REPO/fixtures/seeds/closure/000" >out 2>err || die put

# Each question, by number: it prints its answer.
QUESTIONS=7
ask() {
	case $1 in
	1) "$KISTORE" -C store list --kind BenchmarkRun --json ;;
	2) "$KISTORE" -C store list --text rope --fields digest,title,result ;;
	3) "$KISTORE" -C store list --hardware H100 --sort value --csv ;;
	4) "$KISTORE" -C store rank "$RUN" --csv --all ;;
	5) "$KISTORE" -C store show "$RUN" ;;
	6) "$KISTORE" -C store records --json ;;
	7) "$KISTORE" -C store resolve liger-rope ;;
	esac
}

# sound: the index and its WAL, and all answers, as they should be.
for ((n = 1; n <= QUESTIONS; n++)); do
	ask "$n" >"right.$n" 2>err || die "question $n"
	LC_ALL=C sort -u "right.$n" >"lines.$n"
done
sqlite3 store/kistore-index.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
"$KISTORE" -C store verify --index >out 2>err || die "verify --index"
mkdir sound
cp store/kistore-index.sqlite sound/

# spoil HOW: change the index, in a way that $round decides.
spoil() {
	rm -f store/kistore-index.sqlite*
	cp sound/kistore-index.sqlite store/
	python3 - "$1" "$round" store/kistore-index.sqlite <<-'EOF'
	import os, random, sys
	how, seed, path = sys.argv[1:]
	random.seed(how + seed)
	data = bytearray(open(path, 'rb').read())
	if how == 'bit':
	    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
	elif how == 'cut':
	    del data[random.randrange(len(data)):]
	elif how == 'page':
	    at = random.randrange(len(data) // 4096) * 4096
	    data[at:at + 4096] = bytes(4096)
	elif how == 'swap':
	    a, b = (random.randrange(len(data) // 4096) * 4096 for _ in 'ab')
	    data[a:a + 4096], data[b:b + 4096] = data[b:b + 4096], data[a:a + 4096]
	open(path, 'wb').write(data)
	EOF
}

same=0 refused=0 less=0
for how in bit cut page swap; do
	rounds=$ROUNDS
	[ "$how" = bit ] || rounds=$((ROUNDS / 5))
	for ((round = 1; round <= rounds; round++)); do
		n=$((round % QUESTIONS + 1))
		spoil "$how"
		status=0
		ask "$n" >out 2>err || status=$?
		case $status in
		0 | 1 | 3 | 5) ;;
		*) die "$how $round, question $n: status $status" ;;
		esac
		grep -v '^{"schema":"kistore-error/1"' out | LC_ALL=C sort -u |
			LC_ALL=C comm -13 "lines.$n" - >wrong
		[ ! -s wrong ] || {
			cp wrong out
			die "$how $round, question $n: a wrong answer"
		}
		if cmp -s out "right.$n"; then
			same=$((same + 1))
		elif [ "$status" -ne 0 ]; then
			refused=$((refused + 1))
			ask "$n" >out 2>err || die "$how $round, question $n: again"
			cmp -s out "right.$n" ||
				die "$how $round, question $n: not built anew"
		else
			less=$((less + 1))
			spoil "$how"
			! "$KISTORE" -C store verify --index >out 2>err ||
				die "$how $round, question $n: not found"
		fi
	done
done
say "ok, $same answers as they were, $refused refused and right at the" \
	"second asking, $less with less, which verify --index finds"
