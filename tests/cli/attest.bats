#!/usr/bin/env bats
# kistore attest.

load ../lib/common
load ../lib/store
load ../lib/hostile
load ../lib/sign

# A store that log.key signs, in which runner.key is registered; another run
# than $RUN, and keys of others. Made once, and copied.
prepare() {
	local made=$BATS_FILE_TMPDIR/attest
	if [ ! -d "$made" ]; then
		mkdir -p "$made"
		(
			cd "$made" || exit
			seed_store
			make_key log "$ORIGIN"
			make_key runner runner.example/h100
			make_key jane jane.example
			chmod 600 ./*.key ./*.ssh
			jq -c '.spec.observedAt = "2026-09-01T00:00:00Z" |
				.metadata.name = "anew"' "$SEEDS/run.json" >anew.json
			kistore -q put anew.json >/dev/null
			kistore -q key register runner.vkey >/dev/null
			snapshot log.key --first
		)
	fi
	cp -R "$made/." .
	umask 077
	export SOURCE_DATE_EPOCH=1787000000
	use_store demo.git
	ANEW=$(kistore digest anew.json | cut -d' ' -f1)
	JANE=jane.example+$(id_of jane.key)
	RUNNER=runner.example/h100+$(id_of runner.key)
	export ANEW JANE RUNNER
}

# reproduced KEY [OPTION…], says KEY BODY [OPTION…]: about $RUN.
says() {
	kistore -q attest "$RUN" --type reproduced --key "$1.key" --body "$2" \
		"${@:3}"
}

reproduced() {
	says "$1" 'Same within noise.' "${@:2}"
}

# refused_filing STATUS LINE OPTION…: about $RUN, signed by jane.
refused_filing() {
	local status=$1 line=$2
	shift 2
	keep_state demo.git
	refused "$status" kistore attest "$RUN" --key jane.key "$@"
	err_is "kistore: $line"
	unchanged demo.git
}

# body_of DIGEST; envelope_of DIGEST; payload_of ENVELOPE-FILE.
body_of() {
	kistore -q get "$1"
}

envelope_of() {
	body_of "$1" | jq -cj .spec.envelope
}

payload_of() {
	jq -r .payload "$1" | base64 -d
}

# pae FILE: what the signatures of an envelope are over, by DSSE's words.
pae() {
	local type
	type=$(jq -r .payloadType "$1")
	payload_of "$1" >"$BATS_TEST_TMPDIR/payload.bin"
	printf 'DSSEv1 %s %s %s ' "${#type}" "$type" \
		"$(stat -c %s "$BATS_TEST_TMPDIR/payload.bin")"
	cat "$BATS_TEST_TMPDIR/payload.bin"
}

# put_envelope FILE: as an Attestation of its own; its digest.
put_envelope() {
	jq -c '{apiVersion: "kistore/v1", kind: "Attestation",
		spec: {envelope: .}}' "$1" >"$BATS_TEST_TMPDIR/manifest.json"
	kistore -q put "$BATS_TEST_TMPDIR/manifest.json" | cut -d' ' -f1
}

# statement KEY FILE: an envelope around any payload, by stock tools.
statement() {
	printf 'DSSEv1 28 application/vnd.in-toto+json %s ' \
		"$(stat -c %s "$2")" >"$BATS_TEST_TMPDIR/pae"
	cat "$2" >>"$BATS_TEST_TMPDIR/pae"
	jq -cn --arg payload "$(base64 -w0 "$2")" --arg sig "$(
		raw_signature "$1" <"$BATS_TEST_TMPDIR/pae" | base64 -w0)" '{
		$payload, payloadType: "application/vnd.in-toto+json",
		signatures: [{$sig}]}'
}

# verified OPTION…: what --verify says of $RUN, as JSON in $OUT.
verified() {
	try kistore -q attest --verify "$RUN" --json --unsigned "$@"
}

# ---- Filing ----------------------------------------------------------------

# bats test_tags=valgrind
@test "attest signs, puts and prints the digest, in one commit" {
	before=$(commit_id)
	expect 0 kistore attest "$RUN" --type reproduced --key jane.key \
		--body $' Same within noise.\n' --value 621.5us \
		--environment ' H100 SXM ' --author 'Jane D.' \
		--evidence-url https://example.org/log
	err_has 'kistore: added 1 entry; the log has 12'
	digest=$(<"$OUT")
	[ "$(git -C demo.git rev-parse HEAD^)" = "$before" ]
	[ "$(git -C demo.git log -1 --format=%s)" = "attest reproduced $RUN" ]
	expect 0 kistore resolve "$digest"
	[ "$(log_lines | tail -n 1)" = "{\"at\":\"$AT\",\"digest\":\"$digest\",\"kind\":\"kistore/v1/Attestation\",\"op\":\"publish\"}" ]
	envelope_of "$digest" >envelope.json
	jq -e '.payloadType == "application/vnd.in-toto+json" and
		(.signatures | length) == 1 and
		.signatures[0].keyid == $jane' --arg jane "$JANE" envelope.json
	diff <(payload_of envelope.json) <(printf %s '{"_type":"https://in-toto.io/Statement/v1","predicate":{"at":"2026-08-17T20:53:20Z","author":"Jane D.","body":"Same within noise.","environment":"H100 SXM","evidenceUrl":"https://example.org/log","observedNs":621500,"type":"reproduced"},"predicateType":"https://kernelindex.com/kistore/attestation/v1","subject":[{"digest":{"sha256":"'"${RUN#sha256:}"'"},"name":"kernelindex.dev/v1alpha1/BenchmarkRun"}]}')
	expect 0 kistore verify
	no_finding
}

@test "its signature is one by openssl" {
	envelope_of "$(reproduced jane)" >envelope.json
	pae envelope.json >message
	jq -r '.signatures[0].sig' envelope.json | base64 -d >signature
	[ "$(stat -c %s signature)" -eq 64 ]
	openssl pkey -in jane.key -pubout >jane.pub
	openssl pkeyutl -verify -rawin -pubin -inkey jane.pub -in message \
		-sigfile signature
	printf x >>message
	fails openssl pkeyutl -verify -rawin -pubin -inkey jane.pub \
		-in message -sigfile signature
}

@test "its signature is one by python's cryptography" {
	python3 -c 'import cryptography' 2>/dev/null ||
		skip "no module cryptography for python3"
	envelope_of "$(reproduced jane)" >envelope.json
	python3 - envelope.json "$(cat jane.vkey)" <<-'END'
	import base64, json, sys
	from cryptography.hazmat.primitives.asymmetric.ed25519 import (
	    Ed25519PublicKey)
	e = json.load(open(sys.argv[1]))
	payload = base64.b64decode(e["payload"], validate=True)
	kind = e["payloadType"].encode()
	pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
	key = base64.b64decode(sys.argv[2].split("+", 2)[2])[1:]
	Ed25519PublicKey.from_public_bytes(key).verify(
	    base64.b64decode(e["signatures"][0]["sig"], validate=True), pae)
	s = json.loads(payload)
	assert s["predicateType"] == ("https://kernelindex.com/kistore/"
	    "attestation/v1") and s["predicate"]["type"] == "reproduced"
	END
}

@test "the same once more is known, and nothing is written" {
	digest=$(reproduced jane)
	now=$(commit_id)
	expect 0 kistore attest "$RUN" --type reproduced --key jane.key \
		--body 'Same within noise.'
	out_is "$digest"
	err_is 'kistore: that is there already: nothing was written'
	[ "$(commit_id)" = "$now" ]
}

@test "--dry-run says what would be, and writes nothing" {
	keep_state demo.git
	expect 0 kistore attest "$RUN" --type reproduced --key jane.key \
		--body 'Same within noise.' --dry-run
	err_is 'kistore: dry run, nothing written: would add 1 entry; the log would have 12'
	digest=$(<"$OUT")
	unchanged demo.git
	[ "$(reproduced jane)" = "$digest" ]
}

@test "--json tells what was signed" {
	expect 0 kistore -q attest "$RUN" --type environment-note \
		--key runner.key --body 'Driver 550.' --json
	jq -e '.schema == "kistore-attest/1" and .state == "new" and
		.subject == $run and .signer == $runner and
		.standing == "controlled" and .logSize == 12 and
		.dryRun == false and (.commit | length) == 40 and
		.statement.predicate.type == "environment_note" and
		.statement.predicate.author == "runner.example/h100"' \
		--arg run "$RUN" --arg runner "$RUNNER" "$OUT"
}

@test "a body comes from a file or standard input, too" {
	printf 'From a file,\nin two lines.\n' >body
	a=$(kistore -q attest "$RUN" --type reproduced --key jane.key \
		--body-file body --dry-run)
	b=$(kistore -q attest "$RUN" --type reproduced --key jane.key \
		--body-file - <body)
	[ "$a" = "$b" ]
	envelope_of "$b" >envelope.json
	payload_of envelope.json | jq -e \
		'.predicate.body == "From a file,\nin two lines."'
}

@test "a passphrase opens the key" {
	echo secret >phrase
	kistore -q key generate --name jane.example -o locked.key \
		--passphrase-file phrase >/dev/null
	refused 6 kistore attest "$RUN" --type reproduced --key locked.key \
		--body x
	err_has 'private key is encrypted'
	reproduced locked --passphrase-file phrase
}

@test "an OpenSSH key signs under the name in its comment" {
	kistore -q attest "$RUN" --type reproduced --key jane.ssh --body x --json |
		jq -e '.signer == $jane' --arg jane "$JANE"
}

@test "--value takes its unit, and need not be whole nanoseconds" {
	observed() {
		kistore -q attest "$RUN" --type reproduced --key jane.key \
			--body x --dry-run --json --value "$1" |
			jq .statement.predicate.observedNs
	}
	[ "$(observed 621.5us)" = 621500 ]
	[ "$(observed '0.62 ms')" = 620000 ]
	[ "$(observed 984ns)" = 984 ]
	[ "$(observed 0.5ns)" = 0.5 ]
	[ "$(observed 1.001µs)" = 1001 ]
	[ "$(observed 2s)" = 2000000000 ]
	[ "$(observed 007ns)" = 7 ]
}

# ---- Admission, in its order -----------------------------------------------

@test "what is said must have a type" {
	keep_state demo.git
	types='reproduced, could_not_reproduce, environment_note, regression_observed, correction_wanted or rerun'
	refused_filing 4 "the type must be $types, not \"confirmed\"" \
		--type confirmed --body ''
	refused_filing 4 "the type must be $types, not \"\"" --type ''
	refused_filing 4 "the type must be $types, not \"REPRODUCED\"" \
		--type REPRODUCED
	for type in could-not-reproduce could_not_reproduce; do
		expect 0 kistore -q attest "$RUN" --type "$type" \
			--key jane.key --body x --dry-run
	done
}

@test "a body must be there, and not too long" {
	for body in '' ' ' $'\n\t ' $'\302\240\342\200\203'; do
		refused_filing 4 'the body must not be blank' \
			--type reproduced --body "$body" --evidence-url x
	done
	: >empty
	refused_filing 4 'the body must not be blank' --type reproduced \
		--body-file empty
	refused_filing 4 'the body must not be blank' --type reproduced
	long=$(printf 'x%.0s' $(seq 2000))
	refused_filing 4 'the body must have at most 2000 UTF-16 code units' \
		--type reproduced --body "${long}x" --value bad
	refused_filing 4 'the body must be UTF-8 without U+0000' \
		--type reproduced --body $'\377'
	expect 0 kistore -q attest "$RUN" --type reproduced --key jane.key \
		--dry-run --body "  $long  "
	# A correction may have more to say.
	expect 0 kistore -q attest "$RUN" --type correction-wanted --key jane.key \
		--dry-run --reason other --body "$long$long"
	refused_filing 4 'the body must have at most 4000 UTF-16 code units' \
		--type correction-wanted --reason other --body "$long${long}x"
	head -c 2000000 /dev/zero >huge
	refused_filing 4 'huge: is longer than 1048576 bytes' \
		--type reproduced --body-file huge
}

@test "an evidence URL is https and has no blank" {
	for url in http://example.org/ ftp://x 'https://a b' https:// x ''; do
		refused_filing 4 "the evidence URL must begin with https:// and have no blank, not \"$url\"" \
			--type reproduced --body x --value bad --evidence-url "$url"
	done
}

@test "a value observed is a number above 0 with its unit" {
	for value in 621.5 us -1us 1e3us .5us 1.us '1  us' 1min ''; do
		refused_filing 4 "the observed value must be a number and its unit (ns, us, \\xc2\\xb5s, ms or s), as in 621.5us, not \"$value\"" \
			--type reproduced --body x --value="$value" 2>/dev/null ||
			refused_filing 4 "the observed value must be a number and its unit (ns, us, µs, ms or s), as in 621.5us, not \"$value\"" \
				--type reproduced --body x --value="$value"
	done
	refused_filing 4 'the observed value must be a finite number of nanoseconds above 0' \
		--type reproduced --body x --value 0us
	# Its turn comes after the URL's.
	refused_filing 4 'the evidence URL must begin with https:// and have no blank, not "x"' \
		--type reproduced --body x --value bad --evidence-url x
}

@test "an environment is cut to its length" {
	kistore -q attest "$RUN" --type reproduced --key jane.key --body x \
		--dry-run --json --environment "$(printf 'y%.0s' $(seq 300))" |
		jq -e '.statement.predicate.environment | length == 200'
	refused_filing 4 'the environment must be UTF-8 without U+0000' \
		--type reproduced --body x --environment $'\300'
}

@test "members are those of the type" {
	refused_filing 4 'a statement of the type reproduced has no reason' \
		--type reproduced --body x --reason other
	refused_filing 4 'a statement of the type reproduced has no rerun' \
		--type reproduced --body x --rerun anew
	refused_filing 4 'the reason must be incorrect_result, wrong_attribution, license_issue, comparability or other, not ""' \
		--type correction-wanted --body x
	refused_filing 4 'the reason must be incorrect_result, wrong_attribution, license_issue, comparability or other, not "because"' \
		--type correction-wanted --body x --reason because
	refused_filing 4 'a statement of the type correction_wanted has no observedNs' \
		--type correction-wanted --body x --reason other --value 1us
	refused_filing 4 'a statement of the type rerun has no body' \
		--type rerun --body x --rerun anew
	refused_filing 4 'a statement of the type rerun must name the new run' \
		--type rerun
}

@test "the subject is published, and a run unless a correction is wanted" {
	zeros=$(printf '%064d' 0)
	refused 3 kistore attest "$zeros" --type reproduced --body x --key jane.key
	# The body was to be judged first.
	refused 4 kistore attest "$zeros" --type reproduced --key jane.key
	refused 4 kistore attest "$PROJECT" --type reproduced --body x \
		--key jane.key
	err_is 'kistore: a statement of the type reproduced is about a run, not about a kernelindex.dev/v1alpha1/SoftwareProject'
	expect 0 kistore -q attest "$PROJECT" --type correction-wanted --body x \
		--reason wrong-attribution --key jane.key
	echo raw >raw
	raw=$(kistore -q artifact put raw | cut -d' ' -f1)
	refused 4 kistore attest "$raw" --type correction-wanted --body x \
		--reason other --key jane.key
	err_is 'kistore: a statement of the type correction_wanted is about a record, not about a raw'
}

@test "a rerun is published, another one, and of the same kind" {
	refused_filing 4 'a run must not be its own rerun' --type rerun \
		--rerun "$RUN"
	refused_filing 4 'the rerun must be of the kind of its subject, not a kernelindex.dev/v1alpha1/SoftwareProject' \
		--type rerun --rerun "$PROJECT"
	refused 3 kistore attest "$RUN" --type rerun --key runner.key \
		--rerun "sha256:$(printf '%064d' 0)"
	expect 0 kistore -q attest "$RUN" --type rerun --key runner.key \
		--rerun anew
}

@test "an author has a name" {
	refused_filing 4 "the author's name must not be blank" \
		--type reproduced --body x --author ' '
	refused_filing 4 "the author's name must not have control characters" \
		--type reproduced --body x --author $'Jane\nDoe'
	refused_filing 4 "the author's name must have at most 200 UTF-16 code units" \
		--type reproduced --body x --author "$(printf 'n%.0s' $(seq 201))"
}

@test "20 are filed in 24 hours, by one key" {
	export SOURCE_DATE_EPOCH=1787000001
	for i in $(seq 20); do
		says jane "number $i" >/dev/null
		SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 1))
	done
	refused_filing 4 '20 were filed in the last 24 hours, and 20 are the limit' \
		--type reproduced --body x
	# Under another name it is the same key; another key is somebody else.
	refused_filing 4 '20 were filed in the last 24 hours, and 20 are the limit' \
		--type environment-note --body x --author 'Somebody Else'
	reproduced runner
	# What is wrong with the statement itself is said before.
	refused_filing 4 'the body must not be blank' --type reproduced
	kistore -q attest "$RUN" --type correction-wanted --reason other \
		--body x --key jane.key
	kistore -q attest "$RUN" --type rerun --rerun anew --key jane.key
	# 24 hours after the first.
	export SOURCE_DATE_EPOCH=$((1787000001 + 86399))
	refused_filing 4 '20 were filed in the last 24 hours, and 20 are the limit' \
		--type reproduced --body x
	export SOURCE_DATE_EPOCH=$((1787000001 + 86400))
	says jane 'a day later'
	refused_filing 4 '20 were filed in the last 24 hours, and 20 are the limit' \
		--type reproduced --body x
}

@test "20 corrections are filed in 24 hours, about one record" {
	correction() {
		kistore -q attest "$1" --type correction-wanted --reason other \
			--key "$2.key" --body "$3"
	}
	for i in $(seq 10); do
		correction "$RUN" jane "number $i"
		correction "$RUN" runner "number $i"
	done >/dev/null
	refused 4 correction "$RUN" jane more
	err_is 'kistore: 20 were filed in the last 24 hours, and 20 are the limit'
	refused 4 correction "$RUN" runner more
	correction "$PROJECT" jane more
	reproduced jane
}

@test "what is filed again in another envelope counts once there, too" {
	for i in $(seq 19); do
		says jane "number $i"
	done >digests
	envelope_of "$(head -n 1 digests)" >envelope.json
	jq -c '.signatures[0].keyid = "other"' envelope.json >again.json
	put_envelope again.json
	says jane 'number 20'
	refused 4 says jane 'number 21'
}

# ---- Keys ------------------------------------------------------------------

@test "N13: the key of a log signs nothing else" {
	line='and is used for nothing else: what it signs must not be taken for a snapshot (N13); use another one'
	keep_state demo.git
	refused 4 kistore attest "$RUN" --type reproduced --key log.key --body x
	err_is "kistore: that key signs the log, by entry 10, $line"
	refused 4 kistore attest "$RUN" --type reproduced --key log.ssh --body x
	# Nor one that has the log's name, or is to follow.
	make_key thief "$ORIGIN"
	refused 4 kistore attest "$RUN" --type reproduced --key thief.key --body x
	err_is "kistore: that key has the name of the log, $ORIGIN, whose key is used for nothing else (N1, N13): use another one"
	unchanged demo.git
	make_key next "next.example"
	append "$(key_entry "$(cat log.vkey)" "$(cat next.vkey)")"
	refused 4 kistore attest "$RUN" --type reproduced --key next.key --body x
	err_is 'kistore: that key is to sign the log, as entry 11 announces, and is used for nothing else (N13): use another one'
}

@test "N13: nor the key of another log, as far as its signer remembers" {
	make_key other "$OTHER"
	kistore -q init --origin "$OTHER" other.git
	kistore -q -C other.git snapshot create --key other.key --first
	refused 4 kistore attest "$RUN" --type reproduced --key other.key --body x
	err_is "kistore: that key has signed snapshots of $OTHER, and the key of a log is used for nothing else: what it signs must not be taken for a snapshot (N13); use another one"
	forget
	reproduced other
}

@test "a rerun by a key that does not count is filed, and told of" {
	rerun() {
		expect 0 kistore attest "$RUN" --type rerun --rerun anew --key "$1.key"
		head -n 1 "$ERR" >first
	}
	rerun jane
	diff <(echo "kistore: $JANE is not a key that the log registers (see key register): this rerun raises no level of evidence") first
	kistore -q key register jane.vkey
	SOURCE_DATE_EPOCH=1787000001 rerun jane
	diff <(echo "kistore: $JANE is registered, but no snapshot covers that yet: until one does, this rerun raises no level of evidence") first
	kistore -q key register --revoke runner.vkey
	SOURCE_DATE_EPOCH=1787000001 rerun runner
	diff <(echo "kistore: $RUNNER was revoked: this rerun raises no level of evidence") first
}

# ---- Usage -----------------------------------------------------------------

@test "attest is told what, by whom, and once" {
	refused 2 kistore attest "$RUN" --key jane.key --body x
	err_is 'kistore: attest needs --type TYPE, or --verify'
	refused 2 kistore attest "$RUN" --type reproduced --body x
	err_is 'kistore: attest needs --key FILE, once: the private key that signs'
	refused 2 kistore attest "$RUN" --type reproduced --body x \
		--key jane.key --key runner.key
	refused 2 kistore attest "$RUN" --type reproduced --key jane.key \
		--body x --body-file y
	err_is 'kistore: --body and --body-file exclude each other'
	refused 2 kistore attest "$RUN" --type reproduced --key - --body-file - \
		<jane.key
	err_is 'kistore: standard input can be only one of them'
	refused 2 kistore attest "$RUN" --type reproduced --key jane.key \
		--body x --unsigned
	refused 2 kistore attest --verify "$RUN" --body x
	err_is 'kistore: with --verify, --key and --unsigned are all that can be given'
	refused 2 kistore attest "$RUN" --type reproduced --body x \
		--key "$(cat jane.key)"
	err_has 'a private key does not belong on the command line'
	refused 5 kistore attest "$RUN" --type reproduced --key jane.key \
		--body-file no
	err_is 'kistore: no: No such file or directory'
	refused 5 kistore attest "$RUN" --type reproduced --key no.key --body x
	refused 4 kistore attest "$RUN" --type reproduced --key jane.vkey --body x
	refused 3 kistore -C . attest "$RUN" --type reproduced --key jane.key \
		--body x
	refused 2 kistore attest --type reproduced
}

# ---- Verifying -------------------------------------------------------------

@test "--verify prints what is said, and who has signed it" {
	digest=$(reproduced jane --value 621.5us --environment 'H100 SXM' \
		--evidence-url https://example.org/log --author 'Jane D.')
	expect 0 kistore attest --verify "$RUN" --key jane.vkey
	err_has 'what the log says is not verified'
	out_is "reproduced: verified $digest
  subject: $RUN kernelindex.dev/v1alpha1/BenchmarkRun
  signed by: $JANE, a key that was given
  author: Jane D.
  at: 2026-08-17T20:53:20Z
  observed: 621.5 µs
  environment: H100 SXM
  evidence: https://example.org/log
  body: Same within noise.
1 attestation, 1 verified"
	expect 6 kistore -q attest --verify "$RUN"
	silent_err
	[ "$(sed -n 1p "$OUT")" = "reproduced: not verified $digest" ]
	out_has "  signed by: no key that is known here (it claims $JANE)"
	out_has '1 attestation, 0 verified'
	expect 0 kistore -q attest --verify "$digest" --key jane.vkey
	expect 0 kistore -q attest --verify "$ANEW"
	out_is 'No attestations yet.'
	refused 3 kistore -q attest --verify "sha256:$(printf '%064d' 7)"
}

@test "keys are given as vkey, SSH line, PEM, or a file" {
	reproduced jane
	openssl pkey -in jane.key -pubout >jane.pem
	for key in "$(cat jane.vkey)" jane.vkey jane.pem jane.ssh.pub \
		"$(cat jane.ssh.pub)" "$(cat jane.pem)"; do
		expect 0 kistore -q attest --verify "$RUN" --key="$key"
	done
	out_has "  signed by: $(ssh-keygen -lf jane.ssh.pub | cut -d' ' -f2), a key that was given"
	expect 6 kistore -q attest --verify "$RUN" --key runner.vkey
	expect 0 kistore -q attest --verify "$RUN" --key runner.vkey --key jane.vkey
	refused 2 kistore -q attest --verify "$RUN" --key "$(vkey_of jane.key 04)"
	err_has 'a key of type 04 makes cosignatures'
	echo nonsense >nonsense
	refused 2 kistore -q attest --verify "$RUN" --key nonsense
}

@test "a controlled key counts, once its line is signed" {
	digest=$(kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key)
	verified
	[ "$status" -eq 0 ]
	jq -e '.attestations[0] | .counts and .trusted and .type == "rerun" and
		.digest == $digest and .signers == [{key: $runner, given: false,
		standing: "controlled", entry: 9, repeated: false}]' \
		--arg digest "$digest" --arg runner "$RUNNER" "$OUT"
	expect 0 kistore -q attest --verify "$RUN"
	out_has "  signed by: $RUNNER, controlled by entry 9"
	out_has '  counts: the evidence of its subject is verified by it'
	out_has "  rerun: $ANEW"
}

@test "N14: a controlled line that nobody has signed does not count" {
	kistore -q attest "$RUN" --type rerun --rerun anew --key jane.key
	kistore -q key register jane.vkey
	verified
	[ "$status" -eq 6 ]
	jq -e '.attestations[0] | (.counts or .trusted | not) and
		.signers[0].standing == "unsigned"' "$OUT"
	# A note of another log, or of a longer one, covers nothing here.
	git -C demo.git show HEAD:checkpoint >note
	sed '2s/.*/13/' note >longer
	file_change checkpoint longer | change
	verified
	jq -e '.attestations[0].counts | not' "$OUT"
	hand_note log.key | sed '3{s/^A/B/;t;s/^./A/}' >other
	file_change checkpoint other | change
	verified
	jq -e '.attestations[0].counts | not' "$OUT"
	# Nor does one by another key, under whatever name.
	make_key thief "$(name_of log.key)"
	for note in 'hand_note thief.key' 'hand_note jane.key' \
		'hand_note log.key other.example/log' \
		'note_text >text; note_of text signature_line jane.key'; do
		eval "$note" >other
		file_change checkpoint other | change
		verified
		jq -e '.attestations[0].counts | not' "$OUT"
		expect 0 kistore -q list --unsigned --kind BenchmarkRun \
			--evidence verified --fields digest
		silent_out
	done
	file_change checkpoint note | change
	snapshot log.key
	verified
	[ "$status" -eq 0 ]
	jq -e '.attestations[0] | .counts and
		.signers[0].standing == "controlled"' "$OUT"
}

@test "N14: a key that was revoked does not count, from then on" {
	kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key
	kistore -q key register --revoke runner.vkey
	revoked() {
		verified
		[ "$status" -eq 6 ]
		jq -e '.attestations[0] | (.counts or .trusted | not) and
			.signers[0].standing == "revoked"' "$OUT"
	}
	revoked
	expect 6 kistore -q attest --verify "$RUN"
	[[ "$(sed -n 1p "$OUT")" == 'rerun: not trusted '* ]]
	out_has "  signed by: $RUNNER, revoked by entry 12"
	snapshot log.key
	revoked
	# Whoever knows the key all the same may say so.
	verified --key runner.vkey
	[ "$status" -eq 0 ]
	jq -e '.attestations[0] | .trusted and (.counts | not)' "$OUT"
	# Registered again, that must be signed again.
	kistore -q key register runner.vkey
	verified
	jq -e '.attestations[0].signers[0].standing == "unsigned"' "$OUT"
	snapshot log.key
	verified
	jq -e '.attestations[0].counts' "$OUT"
}

@test "only a rerun counts, and only of a run that stands" {
	reproduced runner
	verified
	jq -e '.attestations[0] | .trusted and (.counts | not)' "$OUT"
	kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key
	verified
	jq -e '[.attestations[].counts] == [false, true]' "$OUT"
	kistore -q retract "$ANEW" --reason wrong
	verified
	jq -e '[.attestations[].counts] == [false, false]' "$OUT"
	kistore -q restore "$ANEW" --reason right
	verified
	jq -e '[.attestations[].counts] == [false, true]' "$OUT"
	kistore -q takedown "$ANEW" --reason law
	verified
	jq -e '[.attestations[].counts] == [false, false]' "$OUT"
}

@test "a given key does not make a rerun count" {
	kistore -q attest "$RUN" --type rerun --rerun anew --key jane.key
	verified --key jane.vkey
	[ "$status" -eq 0 ]
	jq -e '.attestations[0] | .trusted and (.counts | not)' "$OUT"
}

@test "an attestation that was retracted is hidden, and does not count" {
	digest=$(kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key)
	kistore -q retract "$digest" --reason hidden
	expect 0 kistore -q attest --verify "$RUN"
	out_is 'No attestations yet.'
	expect 0 kistore attest --verify "$digest" --json
	err_has 'is retracted'
	jq -e '.attestations[0] | .trusted and (.counts | not)' "$OUT"
	kistore -q restore "$digest" --reason shown
	verified
	jq -e '.attestations[0].counts' "$OUT"
}

@test "one envelope in other clothes counts once" {
	digest=$(kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key)
	envelope_of "$digest" >envelope.json
	# Another keyid, none, one more signature, an unknown member.
	jq -c '.signatures[0].keyid = "jane.example+00000000"' envelope.json >a.json
	jq -c 'del(.signatures[0].keyid)' envelope.json >b.json
	raw_signature jane.key <<<x | base64 -w0 >garbage
	jq -c --rawfile sig garbage '.signatures = [{$sig}] + .signatures' \
		envelope.json >c.json
	jq -c '.signatures += .signatures' envelope.json >d.json
	for file in [a-d].json; do
		put_envelope "$file"
	done >digests
	[ "$(sort -u digests | wc -l)" -eq 4 ]
	verified
	[ "$status" -eq 0 ]
	jq -e '.counts == {attestations: 5, trusted: 5, repeated: 4} and
		[.attestations[].repeated] == [false, true, true, true, true] and
		[.attestations[].counts] == [true, false, false, false, false]' \
		"$OUT"
	expect 0 kistore -q attest --verify "$RUN"
	out_has '5 attestations, 5 verified, 4 said before'
	# The first one goes: the next one takes its place.
	kistore -q retract "$digest" --reason hidden
	verified
	jq -e '[.attestations[].counts] == [true, false, false, false]' "$OUT"
}

@test "two keys that have signed one payload are two" {
	envelope_of "$(reproduced jane)" >envelope.json
	pae envelope.json >message
	raw_signature runner.key <message | base64 -w0 >second
	jq -c --rawfile sig second '.signatures += [{$sig}]' envelope.json >both.json
	put_envelope both.json
	verified --key jane.vkey
	jq -e '.counts.repeated == 0 and (.attestations[1].signers |
		map({(.key): .repeated}) | add) == {($jane): true,
		($runner): false}' --arg jane "$JANE" --arg runner "$RUNNER" "$OUT"
}

@test "an envelope that is not verified is known by its payload" {
	envelope_of "$(reproduced jane)" >envelope.json
	jq -c '.signatures[0].keyid = "x"' envelope.json >again.json
	put_envelope again.json
	verified
	[ "$status" -eq 6 ]
	jq -e '[.attestations[].repeated] == [false, true]' "$OUT"
}

@test "B23: with more than 16 signatures it is none" {
	envelope_of "$(kistore -q attest "$RUN" --type rerun --rerun anew \
		--key runner.key)" >envelope.json
	jq -c '.signatures[0] as $s | .signatures = [range(16) | $s]' \
		envelope.json >sixteen.json
	jq -c '.signatures[0] as $s | .signatures = [range(17) | $s]' \
		envelope.json >seventeen.json
	expect 0 kistore -q attest --verify sixteen.json
	expect 1 kistore -q attest --verify seventeen.json
	out_has 'the envelope must have 1 to 16 signatures, not 17'
	put_envelope sixteen.json
	jq -c '{apiVersion: "kistore/v1", kind: "Attestation",
		spec: {envelope: .}}' seventeen.json >manifest.json
	refused 4 kistore put manifest.json
	err_has 'signatures'
}

@test "a file holds an envelope, an Attestation, or one a line" {
	digest=$(reproduced jane)
	envelope_of "$digest" >envelope.json
	body_of "$digest" >attestation.json
	jq . envelope.json >pretty.json
	{ cat envelope.json; echo; echo; jq -c . attestation.json; } >two.intoto.jsonl
	for file in envelope.json attestation.json pretty.json; do
		expect 0 kistore -q attest --verify "$file" --key jane.vkey
		[ "$(sed -n 1p "$OUT")" = 'reproduced: verified' ]
		out_has '1 attestation, 1 verified'
	done
	expect 0 kistore -q attest --verify - --key jane.vkey <pretty.json
	expect 0 kistore -q attest --verify two.intoto.jsonl --key jane.vkey
	out_has '2 attestations, 2 verified, 1 said before'
	expect 6 kistore -q attest --verify envelope.json
	# Without any store, by the keys that are given.
	unset KISTORE_DIR
	expect 0 kistore attest --verify envelope.json --key jane.vkey
	err_is 'kistore: there is no store here: only the keys given are known'
	out_has "  subject: $RUN (not known here)"
	refused 3 kistore attest --verify "$digest" --key jane.vkey
}

@test "base64 in the other alphabet is the same envelope" {
	envelope_of "$(says jane '>>>> ???? >>>> ????')" >envelope.json
	jq -c '(.payload, .signatures[].sig) |= gsub("\\+"; "-") |
		(.payload, .signatures[].sig) |= gsub("/"; "_")' envelope.json >url.json
	! cmp -s envelope.json url.json || return 1
	{ cat envelope.json; echo; cat url.json; } >both.jsonl
	expect 0 kistore -q attest --verify both.jsonl --key jane.vkey
	out_has '2 attestations, 2 verified, 1 said before'
}

@test "what was changed after signing is not verified" {
	envelope_of "$(reproduced jane)" >envelope.json
	payload_of envelope.json | sed 's/reproduced/rerun_/' | base64 -w0 >payload
	jq -c --rawfile p payload '.payload = $p' envelope.json >forged.json
	expect 1 kistore -q attest --verify forged.json --key jane.vkey
	out_has '  signed by: no key that is known here'
	payload_of envelope.json | sed 's/Same/Worse/' | base64 -w0 >payload
	jq -c --rawfile p payload '.payload = $p' envelope.json >forged.json
	expect 6 kistore -q attest --verify forged.json --key jane.vkey
	jq -c '.payloadType = "application/json"' envelope.json >typed.json
	expect 1 kistore -q attest --verify typed.json --key jane.vkey
	out_has 'the envelope holds another type than application/vnd.in-toto+json: application/json'
}

@test "what is malformed is told of, with status 1" {
	malformed() {
		printf '%s' "$2" >bad.json
		expect 1 kistore -q attest --verify bad.json --key jane.vkey
		out_has "  problem: $1"
	}
	malformed 'an envelope must be an object, not a number' 7
	malformed 'the envelope has no payload (DSSE)' '{}'
	malformed 'payload of the envelope must be base64 text' \
		'{"payload":"!","payloadType":"x","signatures":[]}'
	malformed 'the envelope must have 1 to 16 signatures, not 0' \
		'{"payload":"","payloadType":"x","signatures":[]}'
	printf '{' >bad.json
	refused 1 kistore -q attest --verify bad.json --key jane.vkey
	printf '{}\n{\n' >bad.jsonl
	expect 1 kistore -q attest --verify bad.jsonl --key jane.vkey
	err_has 'bad.jsonl:2: '
	mkfifo pipe
	refused 5 timeout 10 "$KISTORE" -q attest --verify pipe --key jane.vkey
	: >empty.json
	expect 1 kistore -q attest --verify empty.json --key jane.vkey
	# Signed as it is, but no statement that kistore would write.
	printf '{"_type":"https://in-toto.io/Statement/v1","subject":[]}' >payload
	statement jane.key payload >bad.json
	expect 1 kistore -q attest --verify bad.json --key jane.vkey
	out_has "  signed by: $JANE, a key that was given"
}

@test "a statement of another predicate type is shown as what it is" {
	printf '{"_type":"https://in-toto.io/Statement/v1","predicate":{},"predicateType":"https://slsa.dev/provenance/v1","subject":[{"digest":{"sha256":"%s"}}]}' \
		"${RUN#sha256:}" >payload
	statement runner.key payload >other.json
	put_envelope other.json
	verified
	[ "$status" -eq 0 ]
	jq -e '.attestations[0] | .type == null and .trusted and
		(.counts or .malformed | not) and
		(.problem | contains("https://slsa.dev/provenance/v1"))' "$OUT"
}

@test "a rerun counts only as kistore writes it" {
	# The same, but not in canonical form.
	kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key \
		--dry-run --json | jq .statement >payload
	statement runner.key payload >loose.json
	put_envelope loose.json
	verified
	[ "$status" -eq 1 ]
	jq -e '.attestations[0] | .malformed and (.counts | not)' "$OUT"
}

@test "what others wrote is escaped on its way to a terminal" {
	kistore -q attest "$RUN" --type reproduced --key jane.key \
		--author $'Jane \342\200\256 D.' \
		--body $'one\n  counts: forged\n\e[31mred\e[0m\r\302\233x\tend \342\200\256' \
		--environment $'H100\a\nreproduced: verified'
	expect 0 kistore -q attest --verify "$RUN" --key jane.vkey
	no_escapes
	! grep -q $'\342\200\256' "$OUT" || return 1
	out_has '  body: one'
	grep -qx '      counts: forged' "$OUT"
	out_has '\x1b[31mred'
	out_lacks '  counts: the evidence'
	[ "$(grep -c '^reproduced: ' "$OUT")" -eq 1 ]
	verified --key jane.vkey
	jq -e '.attestations[0].statement.predicate.body |
		contains("\u001b[31m")' "$OUT"
	! LC_ALL=C grep -q $'[\001-\011\013-\037\177]' "$OUT" || return 1
}

@test "a long body is shown whole" {
	long=$(printf 'ü%.0s' $(seq 2000))
	says jane "$long"
	expect 0 kistore -q attest --verify "$RUN" --key jane.vkey
	out_has "  body: $long"
}

# ---- Subjects that do not stand --------------------------------------------

@test "of a retracted run something may be said, and it is told of" {
	kistore -q retract "$RUN" --reason wrong
	expect 0 kistore attest "$RUN" --type reproduced --key jane.key --body x
	err_has "$RUN is retracted"
	expect 0 kistore attest --verify "$RUN" --key jane.vkey
	err_has "$RUN is retracted"
}

@test "of what was taken down nothing is said" {
	kistore -q takedown "$RUN" --reason law
	refused 3 kistore attest "$RUN" --type reproduced --key jane.key --body x
	err_is "kistore: $RUN was taken down"
	kistore -q takedown "$ANEW" --reason law
	refused 3 kistore attest "$WORKLOAD" --type rerun --rerun "$ANEW" \
		--key runner.key
	err_is "kistore: $ANEW was taken down"
	expect 0 kistore -q attest --verify "$RUN"
	out_is 'No attestations yet.'
}

@test "an attestation that was taken down is gone" {
	digest=$(reproduced jane)
	kistore -q takedown "$digest" --reason law
	snapshot log.key
	expect 0 kistore -q attest --verify "$RUN"
	out_is 'No attestations yet.'
	refused 3 kistore -q attest --verify "$digest"
	# It is not filed again, as it was.
	refused 4 reproduced jane
	err_has 'it was taken down'
}

@test "one whose line was taken down, too, is not taken for a record without any" {
	digest=$(reproduced jane)
	kistore -q takedown "$digest" --lines --reason law
	snapshot log.key
	refused 3 kistore -q attest --verify "$digest"
	err_is "kistore: $digest was taken down"
	# Of a run what is said stays, though nobody knows that it was one.
	reproduced jane --environment X
	kistore -q takedown "$RUN" --lines --reason law
	snapshot log.key
	expect 0 kistore -q attest --verify "$RUN" --key jane.vkey
	out_has '1 attestation, 1 verified'
}

@test "N14: a key that was revoked does not count under another name" {
	kistore -q attest "$RUN" --type rerun --rerun anew --key runner.key
	# By hand, since kistore registers a key once.
	expect 0 kistore -q key register "$(vkey_of runner.key 01 other.example)"
	out_is "$(kistore -q key register runner.vkey)"
	append "$(printf '{"at":"%s","key":"%s","op":"key","role":"%s"}' "$AT" \
		"$(vkey_of runner.key 01 other.example)" controlled)"
	snapshot log.key
	expect 0 kistore -q attest --verify "$RUN" --json
	jq -e '.attestations[0] | .counts and (.signers | length == 1)' "$OUT"
	kistore -q key register --revoke "$(vkey_of runner.key 01 third.example)"
	verified
	[ "$status" -eq 6 ]
	jq -e '.attestations[0] | (.counts or .trusted | not) and
		(.signers | map(.standing) == ["revoked"])' "$OUT"
	expect 0 kistore -q list --kind BenchmarkRun --evidence verified
	silent_out
}

# ---- Views -----------------------------------------------------------------

@test "where the origin is pinned, what is signed is all that is seen" {
	pin "$(cat log.vkey)"
	reproduced runner
	expect 0 kistore attest --verify "$RUN"
	out_is 'No attestations yet.'
	expect 0 kistore attest --verify "$RUN" --unsigned
	out_has '1 attestation, 1 verified'
	snapshot log.key
	expect 0 kistore attest --verify "$RUN"
	silent_err
	out_has '1 attestation, 1 verified'
	# The registration itself is beyond what is signed.
	kistore -q key register jane.vkey
	kistore -q attest "$RUN" --type rerun --rerun anew --key jane.key
	expect 0 kistore -q attest --verify "$RUN" --json
	jq -e '.counts.attestations == 1' "$OUT"
	verified
	jq -e '[.attestations[].counts] == [false, false]' "$OUT"
}

@test "a log that needs a newer kistore is not asked whose word counts" {
	reproduced runner
	append "{\"at\":\"$AT\",\"op\":\"future\"}"
	refused 8 kistore -q attest --verify "$RUN" --unsigned
	refused 8 kistore attest "$RUN" --type reproduced --key jane.key --body x
}
