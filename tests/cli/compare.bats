#!/usr/bin/env bats
# kistore compare: records side by side.

load ../lib/common
load ../lib/store
load ../lib/pages

prepare() {
	group_store
}

# variant FILTER: the seed's run, changed; its digest is in $PUT.
variant() {
	put_manifest "$1 | .metadata.name = \"run-$RANDOM\"" \
		"$CLOSURE/000/run.json"
}

# other FILE FILTER: a record like one of the seed's, changed, is put; prints its
# digest.
other() {
	jq -c "$2 | .metadata.name = \"other-$RANDOM\"" \
		"$CLOSURE/000/$1.json" >other.json
	kistore -q put other.json >/dev/null
	kistore digest other.json | cut -d ' ' -f 1
}

# mismatch: what the last --json calls the first material mismatch.
mismatch() {
	jq -r .firstMaterialMismatch "$OUT"
}

# bats test_tags=valgrind
@test "two runs of one group: a winner, ratios, and what differs" {
	expect 0 kistore compare c3252a98 3de2d5f3
	silent_err
	tr -s ' ' <"$OUT" >text
	grep -qx '2 of kind BenchmarkRun' text
	grep -qx 'All 2 runs share one source-native comparison cohort; ranks follow ranking-v1. Liger leads.' text
	grep -qx ' A B' text
	grep -qx ' Transformers Liger' text
	grep -qx " ${RUN:7:12} ${FIRST:7:12}" text
	grep -qx ' value 621.5 µs 5.35× 116.1 µs 1.00×' text
	grep -qx ' rank here #2 #1' text
	grep -qx '≠ implementation Transformers · 459baf6556e5 Liger · 51eb16de033f' text
	grep -qx '≠ latency · median 621.5 µs 116.1 µs' text
	lacks 'first material mismatch' text
	# What is equal is counted, section by section.
	sed -n '/^Comparison$/,/^$/p' text | diff - <(printf 'Comparison\n 6 equal\n\n')
	lacks 'cuda_events' text
}

@test "--all shows what is equal, too" {
	expect 0 kistore compare --all c3252a98 3de2d5f3
	tr -s ' ' <"$OUT" >text
	grep -qx ' timer cuda_events cuda_events' text
	grep -qx ' gpu NVIDIA A100 (sm_80) NVIDIA A100 (sm_80)' text
	lacks ' equal$' text
	[ "$(wc -l <text)" -gt 40 ]
}

@test "three runs, of which two tie" {
	variant '.spec.timing.latencyNs.median = 116064'
	expect 0 kistore compare --json c3252a98 3de2d5f3 "$PUT"
	jq -e '.comparable and (.records | map(.rank)) == [2, 1, 1] and
		(.records | map(.tied)) == [false, true, true] and
		(.records | map(.ratio)) == ["5.35×", "1.00×", "1.00×"] and
		(.verdict | endswith("No single winner: the first rank is shared."))' \
		"$OUT"
}

@test "measurements that read the same, and differ, are told apart" {
	variant '.spec.timing.latencyNs.median = 116063'
	expect 0 kistore compare 3de2d5f3 "$PUT"
	tr -s ' ' <"$OUT" >text
	grep -qx '≠ latency · median 116.1 µs (116064 ns) 116.1 µs (116063 ns)' text
	grep -qx 'All 2 runs share one .* Transformers leads.' text
	# Of three, those two; one that is equal to another is like it.
	expect 0 kistore compare --json 3de2d5f3 c3252a98 "$PUT"
	jq -e '[.sections[].rows[] | select(.label == "latency · median")] ==
		[{label: "latency · median", same: false, values:
		["116.1 µs (116064 ns)", "621.5 µs", "116.1 µs (116063 ns)"]}]' \
		"$OUT"
	variant '.spec.timing.latencyNs.median = 116064'
	expect 0 kistore compare --json 3de2d5f3 "$PUT"
	jq -e '[.sections[].rows[] | select(.label == "latency · median")] ==
		[{label: "latency · median", same: true, values:
		["116.1 µs", "116.1 µs"]}]' "$OUT"
}

@test "each part of the key, when it differs, is the first material mismatch" {
	protocol=$(other protocol '.spec.measurement.timer = "wall_clock"')
	environment=$(other environment '.spec.hardware.product = "B200"')
	case=$(other workload '.spec.axes.seq = 4096')
	policy=$(other workload '.spec.correctness.maxAbsoluteError = 0.1')
	while read -r label filter; do
		variant "$filter"
		expect 0 kistore compare --json c3252a98 "$PUT"
		[ "$(mismatch)" = "${label//_/ }" ]
		jq -e '(.comparable | not) and .comparisonKey == null and
			(.records | map(.ratio, .rank)) ==
			[null, null, null, null] and
			(.verdict | startswith("No winner can be declared"))' \
			"$OUT"
		expect 0 kistore compare c3252a98 "$PUT"
		[ "$(grep -c 'first material mismatch' "$OUT")" -eq 1 ]
		lacks '×' "$OUT"
	done <<-END
	workload .spec.workloadDigest = "$case"
	protocol .spec.protocolDigest = "$protocol"
	environment .spec.environmentDigest = "$environment"
	metric .spec.timing.primaryStatistic = "mean"
	workload .spec.workloadDigest = "$policy" | .spec.protocolDigest = "$protocol"
	protocol .spec.protocolDigest = "$protocol" | .spec.environmentDigest = "$environment"
	environment .spec.environmentDigest = "$environment" | .spec.timing.primaryStatistic = "mean"
	END
	expect 0 kistore compare --json c3252a98 21df0b65
	[ "$(mismatch)" = operation ]
	jq -e '.verdict | contains("does not, is: operation, workload. ")' "$OUT"
	# All that would have to match is said.
	variant ".spec.workloadDigest = \"$policy\""
	expect 0 kistore compare --json c3252a98 "$PUT"
	jq -e '.verdict | contains("is: workload, correctness policy. ")' "$OUT"
}

@test "what a run's page leaves out is compared, too" {
	while read -r file member label filter; do
		digest=$(other "$file" "$filter")
		variant ".spec.$member = \"$digest\""
		expect 0 kistore compare c3252a98 "$PUT"
		grep -q "^≠ ${label//_/ }" "$OUT"
	done <<-'END'
	environment environmentDigest hardware.formFactor .spec.hardware.formFactor = "runner"
	environment environmentDigest software.libraries .spec.software.libraries = {"cudnn": "9"}
	environment environmentDigest settings.powerLimitWatts .spec.settings.powerLimitWatts = 300
	environment environmentDigest settings.environmentVariables .spec.settings.environmentVariables = {"A": "b"}
	protocol protocolDigest comparability.notes .spec.comparability.notes = "n"
	protocol protocolDigest measurement.warmupDuration .spec.measurement.warmupDuration = 5
	protocol protocolDigest devicePolicy .spec.devicePolicy = {"clocksLocked": true}
	workload workloadDigest scalars .spec.scalars = {"eps": {"dtype": "fp32", "value": 1e-6}}
	workload workloadDigest tensors.q.data .spec.tensors.q.data = {"generator": "random"}
	workload workloadDigest case_one del(.spec.axes, .spec.tensors) | .kind = "WorkloadSuite" | .spec.cases = [{"externalId": "one", "axes": {"seq": 1}}] | .spec.aggregation = {"metric": "latency", "statistic": "mean"}
	END
	variant '.spec.timing.latencyNs.confidence95 = [621000, 622000]'
	expect 0 kistore compare --json c3252a98 "$PUT"
	jq -e '[.sections[].rows[] | select(.label == "latency · confidence95")
		.values] == [[null, "[621000,622000]"]]' "$OUT"
}

@test "no winner where one may not rank" {
	kistore retract "$FIRST" --reason wrong >/dev/null
	expect 0 kistore compare c3252a98 3de2d5f3
	grep -qx 'No winner can be declared: at least one of these runs is not eligible for ranking.' \
		"$OUT"
	grep -qE '^  state +retracted$' "$OUT"
	grep -qE '^  does not rank +RETRACTED$' "$OUT"
	lacks '×' "$OUT"
	kistore restore "$FIRST" --reason right >/dev/null
	expect 0 kistore compare c3252a98 3de2d5f3
	grep -q 'Liger leads' "$OUT"
}

@test "a run without its workload has no key to compare by" {
	kistore init bare.git >/dev/null
	kistore -q -C bare.git put --allow-missing "$CLOSURE/000/run.json" \
		"$CLOSURE/000/group/run-3de2d5f3d659.json" >/dev/null
	expect 0 kistore -C bare.git compare c3252a98 3de2d5f3
	grep -q '^No winner can be declared: what the key of one is made of is not in this store\.' \
		"$OUT"
}

@test "--json has every row, equal or not" {
	expect 0 kistore compare --json c3252a98 3de2d5f3
	[ "$(wc -l <"$OUT")" -eq 1 ]
	jq -e --arg run "$RUN" --arg first "$FIRST" --arg key "$KEY" '
		.schema == "kistore-compare/1" and .comparable and
		.kind == "kernelindex.dev/v1alpha1/BenchmarkRun" and
		.comparisonKey == $key and .firstMaterialMismatch == null and
		(.records | map(.digest)) == [$run, $first] and
		(.records | map(.value)) == ["621.5 µs", "116.1 µs"] and
		([.sections[0].rows[].label] == ["operation", "workload",
			"protocol", "environment", "correctness policy",
			"metric"]) and
		([.sections[].rows[] | (.values | length) == 2 and
			.same == (.values[0] == .values[1])] | all) and
		([.sections[].rows[] | select(.label == "seq").values] ==
			[["2048", "2048"]])' "$OUT"
}

@test "a member that only one has is seen to be missing" {
	expect 0 kistore compare --json c3252a98 21df0b65
	jq -e '[.sections[] | select(.title == "Workload").rows[] |
		select(.label == "seq").values] == [["2048", null]]' "$OUT"
	expect 0 kistore compare c3252a98 21df0b65
	grep -qE '^≠ seq +2048 +-$' "$OUT"
}

@test "records of every kind are compared member by member" {
	expect 0 kistore compare 459baf65 51eb16de
	tr -s ' ' <"$OUT" >text
	grep -qx '2 of kind ImplementationRevision' text
	grep -qx 'Records of this kind are not ranked.' text
	grep -qx '≠ declared Apache-2.0 BSD-2-Clause' text
	expect 0 kistore compare c66457140c 3d726cc1
	tr -s ' ' <"$OUT" >text
	grep -qx '≠ seq 2048 -' text
	grep -qx '≠ k bf16 \[1, 8, 2048, 256\] -' text
	environment=$(other environment '.spec.hardware.product = "B200"')
	expect 0 kistore compare 90c9e276 "$environment"
	grep -qE '^≠ product +NVIDIA A100 +B200$' "$OUT"
}

@test "serving runs are compared, and not ranked" {
	put_serving
	former=$SERVING
	put_serving 9000 2
	expect 0 kistore compare "$former" "$SERVING"
	grep -qx 'All share one serving cohort; serving runs are not ranked.' "$OUT"
	tr -s ' ' <"$OUT" | grep -qx ' value 8,840.421 tokens_s 9,000 tokens_s'
	lacks '×.*×' "$OUT"
	jq -c '.spec.qualityPolicy = "other"' <(kistore get --manifest \
		"$SERVING") >other.json
	kistore -q put other.json >/dev/null
	expect 0 kistore compare --json "$former" \
		"$(kistore digest other.json | cut -d ' ' -f 1)"
	[ "$(mismatch)" = "quality policy" ]
}

@test "what cannot be compared is refused" {
	expect 2 kistore compare c3252a98 "$OPERATION"
	silent_out
	err_has "only records of one kind can be compared: $RUN is a kernelindex.dev/v1alpha1/BenchmarkRun, $OPERATION a kernelindex.dev/v1alpha1/OperationSpec"
	expect 2 kistore compare c3252a98
	expect 2 kistore compare c3252a98 "$RUN"
	err_has "$RUN is given twice"
	expect 3 kistore compare c3252a98 nothing
	kistore takedown "$FIRST" --reason law >/dev/null
	expect 3 kistore compare c3252a98 "$FIRST"
	silent_out
	err_has "was taken down"
	echo x >x
	raw=$(put_raw x)
	expect 2 kistore compare c3252a98 "$raw"
}

@test "nothing that differs is cut off, whatever the width" {
	need_terminal
	NO_COLOR=1 on_terminal 60 "$KISTORE" compare c3252a98 3de2d5f3
	tr -d '\n ' <"$OUT" >text
	for run in c3252a98 3de2d5f3; do
		grep -qF "$(kistore get "$run" | jq -r .spec.sourceNative.externalId)" \
			text
	done
	lacks '…' "$OUT"
	on_terminal 100 "$KISTORE" compare c3252a98 21df0b65
	grep -q $'\033\\[33m≠ operation' "$OUT"
}

@test "hostile text is harmless" {
	digest=$(other implementation \
		'.spec.callable.path = "\u001b]0;x\u0007\u202e\n2nd"')
	expect 0 kistore compare 459baf65 "$digest"
	LC_ALL=C lacks $'[\001-\011\013-\037\177]' "$OUT"
	grep -qF '\x1b]0;x\x07' "$OUT"
}
