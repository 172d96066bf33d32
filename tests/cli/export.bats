#!/usr/bin/env bats
# kistore export: runs as a table, in three formats.

load ../lib/common
load ../lib/store
load ../lib/pages

# The 190 runs of fixtures/liger-runs.jsonl, made once and copied.
prepare() {
	export SOURCE_DATE_EPOCH=1787000000 KISTORE_DIR=$PWD/liger.git
	if [ ! -d "$BATS_FILE_TMPDIR/liger.git" ]; then
		kistore init "$BATS_FILE_TMPDIR/liger.git" >/dev/null
		kistore -q -C "$BATS_FILE_TMPDIR/liger.git" put \
			--source "$CLOSURE/source.json" \
			"$REPO/fixtures/liger-runs.jsonl" >/dev/null
		kistore -C "$BATS_FILE_TMPDIR/liger.git" list --limit 1 >/dev/null
	fi
	cp -R "$BATS_FILE_TMPDIR/liger.git" "$KISTORE_DIR"
}

# export_all [OPTION…]: runs.jsonl, runs.csv and runs.db, in $DIR.
export_all() {
	local dir=${DIR-.}
	expect "${STATUS-0}" kistore export --format jsonl -o "$dir/runs.jsonl" "$@"
	silent_out
	expect "${STATUS-0}" kistore export --format csv -o "$dir/runs.csv" "$@"
	silent_out
	expect "${STATUS-0}" kistore export --format sqlite -o "$dir/runs.db" "$@"
	silent_out
}

# The three say the same, value by value, and in the types of their columns.
# Prints how many rows there are.
agree() {
	python3 - <<-'END'
	import csv, json, sqlite3
	lines = [json.loads(line) for line in open("runs.jsonl", encoding="utf-8")]
	table = list(csv.DictReader(open("runs.csv", newline="", encoding="utf-8")))
	db = sqlite3.connect("file:runs.db?mode=ro", uri=True)
	assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
	types = {r[1]: r[2] for r in db.execute("PRAGMA table_info(runs)")}
	db.row_factory = sqlite3.Row
	rows = db.execute("SELECT * FROM runs").fetchall()
	assert len(lines) == len(table) == len(rows)
	for line, fields, row in zip(lines, table, rows):
	    assert list(line) == list(fields) == row.keys()
	    for name, value in line.items():
	        text, cell = fields[name], row[name]
	        where = (name, value, text, cell)
	        if value is None:
	            assert text == "" and cell is None, where
	        elif isinstance(value, bool):
	            assert text == str(value).lower() and cell == int(value), where
	            assert types[name] == "INTEGER", where
	        elif isinstance(value, (dict, list)):
	            assert json.loads(text) == json.loads(cell) == value, where
	        elif isinstance(value, (int, float)):
	            assert float(text) == cell == value, where
	            assert types[name] == ("INTEGER" if isinstance(value, int)
	                and name != "value" and not name.endswith("error")
	                else "REAL"), where
	        else:
	            assert cell == value, where
	            assert text == value or text == "'" + value, where
	            assert types[name] == "TEXT", where
	print(len(lines))
	END
}

# Nothing but these files is here.
only_files() {
	find . -maxdepth 1 -type f ! -name out ! -name err -printf '%f\n' |
		sort | diff <(printf '%s\n' "$@") -
}

# A run with all that it may have; $FULL is its digest.
put_full() {
	put_manifest '.spec.timing = {primaryStatistic: "mean", samples: 31,
		latencyNs: {median: 5, mean: 6, p05: 2, p95: 9, minimum: 1,
		maximum: 10, mad: 3, confidence95: [4, 7]}} |
		.spec.measurements += [{metric: "power", statistic: "mean",
			unit: "w", value: 0.1, sampleCount: 3}] |
		.spec.correctness = {comparator: "c",
			maximumAbsoluteError: 9.5367431640625e-7,
			maximumRelativeError: 0}' "$CLOSURE/000/run.json"
	FULL=$PUT
}

# row DIGEST FILTER: of that run in runs.jsonl.
row() {
	jq -c "select(.digest == \"$1\") | $2" runs.jsonl
}

# ---- What is exported ---------------------------------------------------------

@test "every format has all runs, and no other records, in order of publication" {
	export_all
	[ "$(agree)" -eq 190 ]
	err_has "runs.db: 190 runs"
	kistore list --kind BenchmarkRun --fields digest >digests
	jq -r .digest runs.jsonl | diff digests -
	sqlite3 runs.db 'SELECT digest FROM runs ORDER BY rowid' |
		diff digests -
	kistore export --format jsonl | cmp - runs.jsonl
	kistore export --format csv -o - | cmp - runs.csv
	# Lines end as they must, and only there.
	[ "$(grep -c $'\r$' runs.csv)" -eq 191 ]
	! grep -q $'\r' runs.jsonl || return 1
}

@test "columns are those of the manual, whatever is chosen, and list shows them" {
	sed -n '/^\.Sh EXPORTS/,/^\.El/s/^\.It Li \([a-z0-9_]*\) Ta .*/\1/p' \
		"$REPO/src/kistore.1" >columns
	[ "$(wc -l <columns)" -gt 60 ]
	export_all
	head -n 1 runs.jsonl | jq -r 'keys_unsorted[]' | diff columns -
	head -n 1 runs.csv | tr -d '\r' | tr , '\n' | diff columns -
	kistore export --format csv --kind ServingRun | tr -d '\r' |
		tr , '\n' | diff columns -
	expect 0 kistore list --json --limit 1 --kind BenchmarkRun \
		--fields "$(paste -sd, columns)"
	jq -cS 'del(.schema, .verified)' "$OUT" |
		diff - <(head -n 1 runs.jsonl | jq -cS .)
	# What list shows by itself is what it was.
	expect 0 kistore list --json --limit 1 --kind BenchmarkRun
	jq -e 'has("result") and (has("axes") or has("excluded") | not)' "$OUT"
}

@test "values are those of the records" {
	kistore export --format jsonl >runs.jsonl
	jq -Sc '{
		workload: .run.spec.workloadDigest,
		implementation: .run.spec.implementationDigest,
		protocol: .run.spec.protocolDigest,
		environment: .run.spec.environmentDigest,
		operation: .workload.spec.operationSpecDigest,
		operation_title: .operation.metadata.title,
		axes: .workload.spec.axes, name: .run.metadata.name,
		median: .run.spec.timing.latencyNs.median,
		measurements: ([["latency", "median",
			.run.spec.timing.latencyNs.median]] +
			[.run.spec.measurements[] |
				[.metric, .statistic, .value]]),
		timer: .protocol.spec.measurement.timer,
		harness: .protocol.spec.harness.name,
		benchmark: .run.spec.sourceNative.benchmark}' \
		"$REPO/fixtures/liger-runs.jsonl" | sort >expected
	jq -Sc '{workload: .workload_digest,
		implementation: .implementation_digest,
		protocol: .protocol_digest, environment: .environment_digest,
		operation: .operation_digest, operation_title, axes, name,
		median: .latency_median_ns,
		measurements: [.measurements[] | [.metric, .statistic, .value]],
		timer, harness, benchmark}' runs.jsonl | sort | diff expected -
	jq -es 'all(.source_name == "Liger-Kernel benchmarks" and
		.source == "liger-kernel-bench" and .source_license != null and
		.evidence == "reported" and .excluded == null and
		.retracted == false and .superseded == false and
		.value == .latency_median_ns and .unit == "ns" and
		.latency_mean_ns == null and .framework == null and
		.permalink == "https://kernelindex.com/runs/" + .digest)' \
		runs.jsonl
	[ "$(jq -r .comparison runs.jsonl | sort -u | wc -l)" -eq 92 ]
}

@test "a run with every statistic has them all, as numbers" {
	group_store
	put_full
	put_manifest '.spec.software = {driver: "570.1", cudaToolkit: "12.8",
		framework: {name: "pytorch", version: "2.8.0"}}' \
		"$CLOSURE/000/environment.json"
	put_manifest ".spec.environmentDigest = \"$PUT\"" \
		"$CLOSURE/000/run.json"
	export_all
	[ "$(agree)" -eq "$(kistore list --kind BenchmarkRun --fields digest |
		wc -l)" ]
	row "$FULL" '[.latency_median_ns, .latency_mean_ns, .latency_p05_ns,
		.latency_p95_ns, .latency_min_ns, .latency_max_ns,
		.latency_mad_ns, .confidence_low_ns, .confidence_high_ns,
		.max_absolute_error, .max_relative_error, .value, .samples,
		.statistic]' >got
	diff got - <<<'[5,6,2,9,1,10,3,4,7,9.5367431640625e-07,0,6,31,"mean"]'
	row "$FULL" '.measurements | map([.metric, .statistic, .unit, .value,
		.samples])' | jq -c '.[0], .[4], .[-1]' >got
	diff got - <<-'END'
	["latency","median","ns",5,31]
	["latency","min","ns",1,31]
	["power","mean","w",0.1,3]
	END
	row "$PUT" '[.driver, .cuda_toolkit, .framework]' >got
	diff got - <<<'["570.1","12.8","pytorch 2.8.0"]'
	# The one that the catalogue knows has KernelIndex's id, and a project.
	row "$RUN" '[.id, .permalink, .published, .project]' >got
	jq -e --arg id "$ID" '.[0] == $id and
		.[1] == "https://kernelindex.com/runs/" + $id and
		.[2] == "2026-08-18T09:00:00.000Z" and .[3] != null' got
	sqlite3 runs.db "SELECT typeof(value), typeof(latency_mean_ns),
		typeof(max_relative_error), json_extract(axes, '\$.hidden'),
		json_array_length(measurements) FROM runs
		WHERE digest = '$FULL'" | diff - <(echo 'real|integer|real|8192|10')
}

@test "a serving run has what only it has, and is never excluded" {
	put_serving
	export_all
	[ "$(agree)" -eq 191 ]
	row "$SERVING" '[.model, .hardware, .accelerators_per_node, .nodes,
		.quality_policy, .harness, .harness_version, .value, .unit,
		.excluded, .workload, .status]' >got
	diff got - <<<'["org/m","MI300X",8,2,"mlperf_closed_99","mlperf_loadgen","v5.1",8840.4214,"tokens_s",null,"chat, interactive","valid"]'
	row "$SERVING" '.permalink, .model_digest, .configuration_digest,
		.workload_digest' | tr -d '"' >got
	kistore get "$SERVING" | jq -r --arg digest "$SERVING" \
		'"https://kernelindex.com/serving-runs/" + $digest,
		.spec.modelDigest, .spec.configurationDigest,
		.spec.workloadDigest' | diff got -
	[ "$(kistore export --format jsonl --kind ServingRun | wc -l)" -eq 1 ]
}

@test "digests stand as a run states them, also where nothing is there" {
	empty_store
	kistore -q put --allow-missing "$CLOSURE/000/run.json" >/dev/null
	export_all
	[ "$(agree)" -eq 1 ]
	jq -r '.workload_digest, .implementation_digest, .protocol_digest,
		.environment_digest' runs.jsonl >got
	jq -r '.spec | .workloadDigest, .implementationDigest, .protocolDigest,
		.environmentDigest' "$CLOSURE/000/run.json" | diff got -
	jq -e '[.operation, .operation_digest, .workload, .axes, .hardware,
		.timer, .comparison, .implementation] | all(. == null)' \
		runs.jsonl
	jq -e '.value == 621504 and .evidence == "reported"' runs.jsonl
}

@test "what is retracted, superseded or failed is there, and says why it is out" {
	group_store
	put_manifest '.spec.status = "runtime_error" | del(.spec.timing) |
		.spec.measurements = []' "$CLOSURE/000/run.json"
	kistore -q retract "$FIRST" --reason wrong >/dev/null
	kistore -q supersede "$SECOND" --by "$THIRD" >/dev/null
	export_all
	agree >/dev/null
	{
		for run in "$FIRST" "$SECOND" "$THIRD"; do
			row "$run" '[.retracted, .superseded, .state, .excluded]'
		done
		row "$PUT" '[.status, .value, .measurements, .excluded]'
	} >got
	diff got - <<-'END'
	[true,false,"retracted","RETRACTED"]
	[false,true,"superseded","SUPERSEDED"]
	[false,false,null,null]
	["runtime_error",null,null,"STATUS_RUNTIME_ERROR, MISSING_PRIMARY_METRIC"]
	END
	# Those that may rank are those that do.
	kistore rank --all --json "$KEY" | jq -r '.runs[] |
		select(.rank != null) | .digest' | sort >ranked
	sqlite3 runs.db "SELECT digest FROM runs WHERE excluded IS NULL
		AND comparison = '$KEY' ORDER BY digest" | diff ranked -
	[ "$(kistore export --format jsonl --retracted | wc -l)" -eq 1 ]
	# What was taken down is not there.
	kistore -q takedown "$THIRD" --reason law >/dev/null
	kistore export --format jsonl >runs.jsonl
	[ -z "$(row "$THIRD" .)" ]
}

# ---- Choosing -----------------------------------------------------------------

@test "filters are those of list" {
	for filter in '--hardware H100' '--family rope --dtype bf16' \
		'--axis rows=4096' '--until 2024-09-03' '--text rotary' \
		'--kind benchmarkrun --operation liger-rope'; do
		# shellcheck disable=SC2086 # words
		kistore list --kind BenchmarkRun --fields digest \
			${filter#--kind benchmarkrun} >digests
		[ -s digests ]
		# shellcheck disable=SC2086 # words
		export_all $filter
		[ "$(agree)" -eq "$(wc -l <digests)" ]
		jq -r .digest runs.jsonl | diff digests -
	done
	# Nothing chosen: no rows, but a table.
	export_all --hardware B200
	[ "$(agree)" -eq 0 ]
	err_has "runs.db: 0 runs"
	[ ! -s runs.jsonl ]
	[ "$(wc -l <runs.csv)" -eq 1 ]
	sqlite3 runs.db "SELECT name FROM sqlite_schema WHERE sql IS NOT NULL" |
		sort | diff - <(printf '%s\n' runs runs_comparison \
		runs_hardware runs_operation)
}

@test "--at exports what there was" {
	before=$(commit_id)
	kistore export --format csv >before.csv
	kistore -q retract "$RUN" --reason wrong >/dev/null
	kistore export --format csv >after.csv
	fails cmp -s before.csv after.csv
	kistore export --format csv --at "$before" | cmp - before.csv
}

@test "mistakes are told, and make no file" {
	expect 2 kistore export
	expect 2 kistore export --format parquet -o runs.db
	err_has "it may be jsonl, csv or sqlite, not 'parquet'"
	expect 2 kistore export --format sqlite
	silent_out
	err_has "--format sqlite needs -o FILE"
	expect 2 kistore export --format sqlite -o -
	expect 2 kistore export --format sqlite -o /dev/null
	expect 2 kistore export --format csv --kind OperationSpec -o runs.db
	err_has "a kind is BenchmarkRun or ServingRun"
	expect 2 kistore export --format csv --kind BenchmarkRun --kind Source \
		-o runs.db
	expect 2 kistore export --format csv --hardware '' -o runs.db
	expect 2 kistore export --format csv REF
	expect 2 kistore export --format jsonl --json
	expect 5 kistore export --format csv -o nowhere/runs.db
	expect 5 kistore export --format sqlite -o .
	expect 3 kistore -C nowhere export --format csv -o runs.db
	[ -z "$(find . -maxdepth 1 -type f ! -name out ! -name err)" ]
}

# ---- To the byte --------------------------------------------------------------

@test "the same runs make the same bytes" {
	mkdir one two three
	DIR=one export_all
	# Later, elsewhere, with an index that was made anew, and packed.
	rm -f "$KISTORE_DIR"/kistore-index.sqlite*
	kistore -q gc
	cp -R liger.git other.git
	SOURCE_DATE_EPOCH=1900000000 DIR=two KISTORE_DIR=other.git export_all
	diff -r one two
	# The file of an earlier export makes no difference.
	cp one/* three
	DIR=three export_all --hardware H100
	DIR=three export_all
	diff -r one three
	sqlite3 one/runs.db 'PRAGMA page_size; PRAGMA freelist_count;
		PRAGMA auto_vacuum; PRAGMA encoding; PRAGMA application_id;
		PRAGMA journal_mode' | xargs |
		diff - <(echo '4096 0 0 UTF-8 0 delete')
	# Nothing of the index or of the time is in it.
	! grep -aq "$PWD" one/runs.db || return 1
	! grep -q "$(date +%Y-%m-%d)" one/runs.jsonl || return 1
}

@test "nothing in CSV runs, and every text stays what it is" {
	n=0
	for title in '=1+1' '+1' '-1' '@SUM(A1)' $'\t=1' 'a,b' 'a"b' \
		$'two\nlines' ' blanks ' $'\033[31m\u202e'; do
		jq -c --arg title "$title" --argjson n $((n += 1)) '.run |
			.metadata.title = $title |
			.spec.timing.latencyNs.median = $n' \
			<(head -n 1 "$REPO/fixtures/liger-runs.jsonl")
	done | kistore -q put - >/dev/null
	export_all
	[ "$(agree)" -eq 200 ]
	python3 - <<-'END'
	import csv
	rows = list(csv.DictReader(open("runs.csv", newline="")))[-10:]
	assert [row["title"] for row in rows] == ["'=1+1", "'+1", "'-1",
	    "'@SUM(A1)", "'\t=1", "a,b", 'a"b', "two\nlines", " blanks ",
	    "\033[31m\u202e"], rows
	END
	tail -n 10 runs.jsonl | jq -r '.title | @json' | head -n 1 |
		diff - <(echo '"=1+1"')
	# A terminal gets nothing that it would obey.
	need_terminal
	for format in jsonl csv; do
		on_terminal 80 "$KISTORE" export --format "$format"
		[ "$(wc -l <"$OUT")" -ge 200 ]
		LC_ALL=C lacks $'[\001-\011\013\014\016-\037\177]' "$OUT"
		lacks $'\u202e' "$OUT"
	done
}

@test "nothing in CSV runs behind blanks, unseen, or in another width" {
	n=0
	for title in $'\n=1' $'\r=1' ' =1' $'\v@A' $'\u00a0+1' $'\u200b=1' \
		$'\ufeff=1' $'\u202e=1' $'\uff1d1' $'\uff0b1' $'\uff0d1' \
		$'\uff20A' $'\ufe661' $'\u22121' 'a=1' ' a' $'\u200ba' '1-1' \
		'; =1' ' '; do
		jq -c --arg title "$title" --argjson n $((n += 1)) '.run |
			.metadata.title = $title |
			.spec.timing.latencyNs.median = $n' \
			<(head -n 1 "$REPO/fixtures/liger-runs.jsonl")
	done | kistore -q put - >/dev/null
	export_all
	python3 - <<-'END'
	import csv, json
	titles = [json.loads(line)["title"] for line in open("runs.jsonl")][-20:]
	rows = [row["title"] for row in
	    csv.DictReader(open("runs.csv", newline=""))][-20:]
	assert rows == ["'" + title for title in titles[:14]] + titles[14:], rows
	END
}

# ---- When something is wrong --------------------------------------------------

@test "a damaged run is told of, and the others are exported" {
	digest=$(kistore list --fields digest --family rope --limit 1)
	printf 'no frame' >bad
	replace "$(object_path "$digest")" bad
	STATUS=1 export_all
	err_has "$digest: "
	err_has "1 record could not be read: damaged or absent"
	[ "$(agree)" -eq 189 ]
	[ -z "$(row "$digest" .)" ]
	expect 1 kistore export --format jsonl
	cmp "$OUT" runs.jsonl
}

@test "a run whose environment is damaged is exported without it" {
	digest=$(kistore list --kind ExecutionEnvironment --fields digest \
		--hardware H100 --limit 1)
	printf 'no frame' >bad
	replace "$(object_path "$digest")" bad
	export_all
	[ "$(agree)" -eq 190 ]
	jq -es --arg digest "$digest" '[.[] |
		select(.environment_digest == $digest)] |
		length > 0 and all(.hardware == null and .value != null)' \
		runs.jsonl
}

@test "a file that cannot be written leaves nothing, and what was there stays" {
	skip_under_sanitizer "a limit of sizes"
	for format in jsonl csv sqlite; do
		printf 'before' >there
		try bash -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' limited \
			"$KISTORE" export --format "$format" -o there
		[ "$status" -eq 5 ]
		silent_out
		[ "$(cat there)" = before ]
		[ "$(wc -l <"$ERR")" -eq 1 ]
		err_has 'kistore: there: '
		only_files there
	done
	[ -c /dev/full ] || return 0
	status=0
	kistore export --format csv >/dev/full 2>err || status=$?
	[ "$status" -eq 5 ]
}

@test "interrupted, it leaves nothing or all" {
	need_command strace
	skip_under_sanitizer "strace and leak detection"
	strace -qq -o /dev/null -e trace=none true || skip "strace may not trace here"
	kistore -q export --format sqlite -o whole.db
	midway=0
	for n in {1..16}; do
		try python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' strace -f -qq -o trace \
			-e trace=openat,fcntl \
			-e "inject=fcntl:signal=INT:when=$n" \
			"$KISTORE" -q export --format sqlite -o runs.db
		if [ "$status" -eq 130 ]; then
			only_files trace whole.db
			! grep -q '\.kistore-out-' trace ||
				midway=$((midway + 1))
		else
			[ "$status" -eq 0 ]
			cmp runs.db whole.db
			rm runs.db
		fi
	done
	[ "$midway" -gt 0 ]
}

@test "a file is replaced, a link is followed, and what is open is written to" {
	kistore export --format csv >expected
	printf 'before' >runs.csv
	ln -s runs.csv link
	expect 0 kistore export --format csv -o link
	[ -L link ]
	cmp runs.csv expected
	# As /dev/stdout, which a test had better not try to replace.
	ln -s /proc/self/fd/1 stdout
	expect 0 kistore -q export --format csv -o stdout
	[ -L stdout ]
	cmp "$OUT" expected
	silent_err
	expect 2 kistore export --format sqlite -o stdout
	[ -L stdout ]
}

# ---- The catalogue ------------------------------------------------------------

@test "what -o names must be able to be a file" {
	ln -s loop loop
	ln -s gone dangling
	for file in loop nowhere/x .; do
		for format in jsonl sqlite; do
			expect 5 kistore export --format "$format" -o "$file"
			[ "$(wc -l <"$ERR")" -eq 1 ]
			err_has "kistore: $file: "
		done
	done
	[ -L loop ]
	expect 2 kistore export --format csv -o ''
	err_is 'kistore: -o: a file has a name'
	expect 0 kistore export --format csv -o dangling
	[ -L dangling ] && [ -s gone ]
	# A folder that goes away meanwhile is no question of the store.
	need_command strace
	skip_under_sanitizer "strace and leak detection"
	strace -qq -o /dev/null -e trace=none true || skip "strace may not trace here"
	mkdir folder
	expect 5 strace -f -qq -o trace -e trace=rename \
		-e inject=rename:error=ENOENT \
		"$KISTORE" export --format csv -o folder/runs.csv
	err_is 'kistore: folder/runs.csv: No such file or directory'
	[ -z "$(ls -A folder)" ]
}

@test "the published catalogue's runs are its own rows" {
	need_shared data/catalog-2026-08-16-0022af0b.jsonl.zst
	file=$SHARED/data/catalog-2026-08-16-0022af0b.jsonl.zst
	export KISTORE_DIR=$PWD/all.git
	kistore init all.git >/dev/null
	kistore -q put "$file" >/dev/null
	export_all
	[ "$(agree)" -eq $((7857 + 722)) ]
	sqlite3 runs.db "SELECT count(*), sum(excluded IS NULL) FROM runs
		WHERE kind LIKE '%/BenchmarkRun'" | diff - <(echo '7857|7771')
	zstd -dcq "$file" | jq -rc 'select(.table == "benchmark_runs").row |
		[.id, .runDigest, .comparisonKey, .protocolKey, .environmentKey,
		.status, (.primaryValue | if . == null then null else
			tonumber end), .observedAt] | @tsv' | sort >expected
	jq -rc 'select(.kind | endswith("/BenchmarkRun")) | [.id, .digest,
		.comparison, .protocol_digest, .environment_digest, .status,
		.value, .observed] | @tsv' runs.jsonl | sort | diff expected -
	zstd -dcq "$file" | jq -rc 'select(.table == "serving_runs").row |
		[.id, .runDigest, .cohortKey,
		(.manifest.spec.topology | .acceleratorsPerNode, .nodeCount)] |
		@tsv' | sort >expected
	jq -rc 'select(.kind | endswith("/ServingRun")) | [.id, .digest,
		.comparison, .accelerators_per_node, .nodes] | @tsv' \
		runs.jsonl | sort | diff expected -
}
