#!/usr/bin/env bats
# kistore cite and check: citations, files that prove them, and what they do not
# prove.

load ../lib/common
load ../lib/store
load ../lib/sign

TITLE='Transformers · Rotary position embedding, seq = 2048 · hidden = 8192 · '
TITLE+='q_heads = 32 · kv_heads = 8 · bf16'
LINK=https://kernelindex.com/runs/$RUN
TEXT="$TITLE. 621.5 µs (median). Reported by liger-kernel-bench. "
TEXT+="KernelIndex run $RUN. $LINK. Accessed 2026-08-17."
export TITLE LINK TEXT

prepare() {
	signed_store
}

# cited: c.json, a citation file of the run.
cited() {
	kistore -q cite --proof c.json "$RUN" >/dev/null
}

# alone COMMAND…: with no store named.
alone() {
	env -u KISTORE_DIR "$@"
}

# checks STATUS FILE [OPTION…]: by a user who trusts the log's key.
checks() {
	expect "$1" alone "$KISTORE" check --key "$VKEY" "${@:2}"
}

# edit JQ-FILTER: c.json changed, in canonical form, as e.json.
edit() {
	jq -c "$1" c.json | "$KISTORE" canon - >e.json
	echo >>e.json
	! cmp -s c.json e.json
}

# refuted WORDS: e.json is refused, in these words.
refuted() {
	checks 1 e.json
	err_has "$1"
}

# ---- Texts --------------------------------------------------------------------

@test "a citation is the text that show gives" {
	expect 0 kistore -q cite c3252a98
	out_is "$TEXT"
	expect 0 kistore -q cite --accessed 2027-01-02 c3252a98
	out_is "${TEXT/2026-08-17/2027-01-02}"
	kistore -q show c3252a98 --json >page
	jq -e --arg text "$TEXT" \
		'[.sections[].rows[].value] | index($text) != null' page
	expect 2 kistore cite --accessed 2026-02-30 c3252a98
	expect 2 kistore cite --format html c3252a98
	expect 3 kistore cite ffffffffffff
}

@test "other records are cited by name and kind, bytes are not" {
	expect 0 kistore -q cite "$OPERATION"
	out_is "Rotary position embedding. KernelIndex operation spec $OPERATION. Accessed 2026-08-17."
	echo log >log
	kistore -q artifact put log >/dev/null
	raw=sha256:$(sha256sum <log | cut -c1-64)
	expect 4 kistore -q cite "$raw"
	err_has "only records are cited"
	silent_out
}

@test "bibliography programs get what the text says, and what is signed" {
	signed="log $ORIGIN, snapshot 9, key $(id_of log.key)"
	kistore -q cite --format csl-json c3252a98 >csl
	jq -e --arg title "$TITLE: 621.5 µs (median)" --arg link "$LINK" \
		--arg note "KernelIndex run, $RUN; $signed" '
		.[0].title == $title and .[0].URL == $link and
		.[0].note == $note and
		.[0].accessed == {"date-parts": [[2026, 8, 17]]} and
		.[0].issued == {"date-parts": [[2024, 9, 3]]} and
		.[0].author == [{literal: "liger-kernel-bench"}]' csl
	kistore canon csl | cmp - <(tr -d '\n' <csl)
	kistore -q cite --format bibtex c3252a98 >bib
	grep -q '^@misc{kernelindex-c3252a98ba48,$' bib
	grep -qF '  title = {{'"${TITLE//_/\\_}"': 621.5 µs (median)}},' bib
	grep -qF "  note = {KernelIndex run, $RUN; $signed}" bib
	[ "$(tr -cd '{' <bib | wc -c)" = "$(tr -cd '}' <bib | wc -c)" ]
	kistore -q cite --format ris c3252a98 >c.ris
	[ "$(grep -c $'\r$' c.ris)" = "$(wc -l <c.ris)" ]
	grep -qx "TI  - $TITLE: 621.5 µs (median)"$'\r' c.ris
	grep -qx "N1  - KernelIndex run, $RUN; $signed"$'\r' c.ris
	[ "$(head -n 1 c.ris)" = $'TY  - DATA\r' ]
	[ "$(tail -n 1 c.ris)" = $'ER  - \r' ]
}

@test "what a record says cannot leave its field" {
	# shellcheck disable=SC2016 # LaTeX
	jq -n '{name: "x", title: "a}\\input{b}%$&#_^~\"\r\nER  - \n{ é"}' \
		>metadata
	kistore -q annotate "$OPERATION" --metadata metadata >/dev/null
	kistore -q cite --format bibtex "$OPERATION" >bib
	title='a{\textbraceright}{\textbackslash}input{\textbraceleft}b'
	title+='{\textbraceright}\%\$\&\#\_{\textasciicircum}{\textasciitilde}'
	title+='{\textquotedbl}  ER  -  {\textbraceleft} é'
	grep -qxF "  title = {{$title}}," bib
	kistore -q cite --format ris "$OPERATION" >c.ris
	[ "$(grep -c '^ER' c.ris)" = 1 ]
	grep -qx 'TI  - a}.*"  ER  -  { é'$'\r' c.ris
	kistore -q cite --format csl-json "$OPERATION" >csl
	jq -e '.[0].title == "a}\\input{b}%$&#_^~\"\r\nER  - \n{ é"' csl
}

@test "a note claims no snapshot that does not cover the record" {
	use_store new.git
	kistore init new.git >/dev/null
	kistore -q put "$SEEDS"/*.json >/dev/null
	kistore -q cite --format csl-json c3252a98 >csl
	jq -e --arg note "KernelIndex run, $RUN" '.[0].note == $note' csl
}

# ---- Files --------------------------------------------------------------------

@test "a citation file proves a record without a store" {
	expect 0 kistore -q cite --proof c.json c3252a98
	out_is "$TEXT"
	checks 0 c.json
	out_has "proven: c.json"
	out_has "record: $RUN"
	out_has "citation: $TEXT"
	out_has "published: entry 7 of the 9 that are signed of $ORIGIN"
	out_has "since: $AT, as the log claims"
	out_has "signature: signed by $ORIGIN+$(id_of log.key)"
	out_has "whole: 6 objects, 6 entries, each proven to stand in the log"
	out_has "not shown: when it was looked at; whether it was retracted"
	silent_err
	expect 0 alone "$KISTORE" check --key "$VKEY" - <c.json
	out_has "proven: standard input"
	[ ! -e "$XDG_STATE_HOME/kistore/accepted" ]
}

@test "a citation file is stable, canonical, and appears whole or not at all" {
	cited
	cp c.json first.json
	kistore -q cite --proof - "$RUN" | cmp - first.json
	kistore -q cite --format ris --proof c.json "$RUN" >/dev/null
	cmp c.json first.json
	kistore canon c.json | cmp - <(head -c -1 c.json)
	[ "$(wc -l <c.json)" = 1 ]
	jq -e 'keys == ["accessed", "citation", "format", "objects", "record"]
		and .format == "kistore-citation/1"
		and (.objects | map(.digest) | . == sort)' c.json
	expect 3 kistore -q cite --proof c.json ffffffffffff
	cmp c.json first.json
	expect 5 kistore -q cite --proof no/such/place "$RUN"
	[ "$(find . -name '.kistore-out-*' | wc -l)" = 0 ]
}

@test "the parts of a file are C2SP proofs and exact bytes" {
	cited
	# shellcheck disable=SC2016 # jq's
	one='.record as $r | .objects[] | select(.digest == $r)'
	[ "sha256:$(jq -j "$one.body" c.json | sha256sum | cut -c1-64)" = "$RUN" ]
	jq -j "$one.lines[0].line" c.json >entry
	log_lines | sed -n 8p | tr -d '\n' | cmp - entry
	jq -j "$one.lines[0].proof" c.json >entry.tlog-proof
	sed '1,/^$/d' entry.tlog-proof | cmp - <(stored_note)
	checks 0 --entry entry entry.tlog-proof
	out_has "record: $RUN"
	echo >>entry
	checks 1 --entry entry entry.tlog-proof
	err_has "ends in LF"
	checks 2 entry.tlog-proof
	checks 2 --entry entry c.json
}

@test "the newest notes are in it, up to what is signed" {
	echo '{"name": "x", "title": "Signed name"}' >signed
	echo '{"name": "x", "title": "Unsigned name"}' >unsigned
	echo '{"slug": "rope"}' >provenance
	kistore -q annotate "$OPERATION" --metadata unsigned >/dev/null
	kistore -q annotate "$OPERATION" --provenance provenance >/dev/null
	kistore -q annotate "$OPERATION" --metadata signed >/dev/null
	snapshot log.key
	kistore -q annotate "$OPERATION" --metadata unsigned >/dev/null
	expect 0 kistore -q cite --proof c.json "$RUN"
	grep -qF ' · Signed name, ' "$OUT"
	checks 0 c.json
	jq -e --arg o "$OPERATION" '.objects[] | select(.digest == $o) |
		[.lines[].proof | split("\n")[1]][1:] ==
		["index 10", "index 11"] and (.lines | length) == 3' c.json
	kistore -q cite "$RUN" | grep -qF ' · Unsigned name, '
}

@test "an older snapshot can be cited, with its cosignatures" {
	witness
	witness second
	cosign 1787000001
	cosign 1787000002 second
	kistore -q retract "$RUN" --reason wrong >/dev/null
	snapshot log.key
	expect 0 kistore -q cite --at 9 --proof c.json "$RUN"
	jq -j '.objects[0].lines[0].proof' c.json | sed '1,/^$/d' |
		cmp - <(stored_note 9)
	[ "$(stored_note 9 | grep -c '^—')" = 3 ]
	checks 0 c.json
	policy_file "witness V $(vkey_of second.key 04)" 'quorum W' >policy
	expect 0 alone "$KISTORE" check --policy policy c.json
	out_has "since: $(date -u -d @1787000001 +%Y-%m-%dT%H:%M:%SZ) at the latest"
	expect 0 kistore -q cite --proof c.json "$RUN"
	expect 6 alone "$KISTORE" check --policy policy c.json
}

@test "the source of a run belongs to what is cited" {
	echo '{"kind":"repository","name":"Liger","slug":"liger"}' >source.json
	use_store new.git
	kistore init --origin "$ORIGIN" new.git >/dev/null
	kistore -q put --source source.json "$SEEDS"/*.json >/dev/null
	snapshot thief.key --first
	expect 0 kistore -q cite --proof c.json "$RUN"
	grep -qF 'Reported by Liger.' "$OUT"
	expect 0 alone "$KISTORE" check --key "$THIEF" c.json
	jq -r '.objects[].body | fromjson | .kind' c.json | sort >kinds
	[ "$(grep -c . kinds)" = 7 ]
	grep -qx Source kinds
	edit 'del(.objects[] | select(.body | contains("kistore/v1")))'
	expect 1 alone "$KISTORE" check --key "$THIEF" e.json
	err_has "which is not in the file"
}

@test "without a signature there is no proof" {
	use_store new.git
	kistore init new.git >/dev/null
	kistore -q put "$SEEDS"/*.json >/dev/null
	expect 6 kistore cite --proof c.json "$RUN"
	err_has "nothing is signed"
	silent_out
	[ ! -e c.json ]
}

@test "what came after the snapshot, or was taken down, has no proof" {
	echo '{"apiVersion":"kistore/v1","kind":"Source","spec":{"kind":"x",
		"name":"New","slug":"new"}}' >new.json
	kistore -q put new.json >/dev/null
	new=$(kistore digest new.json | cut -d' ' -f1)
	expect 3 kistore -q cite --proof c.json "$new"
	err_has "is not among the 9 entries that are signed"
	kistore -q takedown "$WORKLOAD" --reason law >/dev/null
	expect 3 kistore -q cite --proof c.json "$RUN"
	err_has "was taken down"
	[ ! -e c.json ]
}

@test "a log that is not the one signed is not cited" {
	lines_at HEAD | sed '3s/"at":"2026/"at":"2025/' >changed
	replace "$SEGMENT" changed
	try kistore -q cite --proof c.json "$RUN"
	[ "$status" -eq 1 ]
	err_has "are not those that were signed"
	[ ! -e c.json ]
}

# ---- Whose word ---------------------------------------------------------------

@test "without a key all but the signature is checked" {
	cited
	expect 6 alone "$KISTORE" check c.json
	out_has "not trusted: c.json"
	out_has "signed, as it says itself, by: $ORIGIN+$(id_of log.key)"
	out_has "published: entry 7 of the 9 that are signed of $ORIGIN"
	err_has "no key is trusted"
	edit '.citation |= sub("621.5"; "62.15")'
	expect 1 alone "$KISTORE" check e.json
}

@test "a pin is trust, another key is not" {
	cited
	pin
	expect 0 alone "$KISTORE" check c.json
	out_has "proven: c.json"
	expect 6 alone "$KISTORE" check --key "$THIEF" c.json
	out_has "not trusted: c.json"
	expect 6 alone "$KISTORE" check --key "$(<other.vkey)" c.json
}

@test "an older file is no rollback, another log of its size is a fork" {
	cited
	next_snapshot
	pin
	expect 0 alone "$KISTORE" check c.json
	forget
	use_store demo.git
	cp -R demo.git fork.git
	use_store fork.git
	forked=$(lines_at HEAD | sed '$s/wrong/other/')
	printf '%s\n' "$forked" >forked
	replace "$SEGMENT" forked
	remove checkpoints/10
	sign_by_hand log.key
	expect 0 kistore -q cite --proof f.json "$RUN"
	checks 0 f.json
	use_store demo.git
	pin
	checks 1 f.json
	err_has "fork"
}

@test "the same key under another origin proves nothing of this one" {
	cited
	sed "s#^Name: .*#Name: $OTHER#" log.key >renamed.key
	note_text "$OTHER" >text
	note_of text signature_line renamed.key >note
	jq -c --rawfile n note '.objects[].lines[].proof |=
		(split("\n\n")[0] + "\n\n" + $n)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	checks 6 e.json
	expect 0 alone "$KISTORE" check --key "$(vkey_of renamed.key)" e.json
	out_has "that are signed of $OTHER"
	# The log's key may not sign for another origin under its own name.
	note_of text signature_line log.key >note
	jq -c --rawfile n note '.objects[].lines[].proof |=
		(split("\n\n")[0] + "\n\n" + $n)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	checks 1 e.json
	out_has "signature: wrong origin"
}

# ---- Forgeries ----------------------------------------------------------------

@test "a text that was edited is refused" {
	cited
	edit '.citation |= sub("621.5"; "62.15")'
	refuted "the citation is not the text that follows"
	edit '.accessed = "2026-08-18"'
	refuted "the citation is not the text that follows"
}

@test "a record that was edited is refused" {
	cited
	edit '.objects[].body |= sub("621504"; "62150")'
	refuted "not what this digest names"
}

@test "a line of another record, and a proof of another line, are refused" {
	cited
	edit '.objects[0].lines = .objects[1].lines'
	refuted "about another object"
	edit '.objects[0].lines[0].proof = .objects[1].lines[0].proof'
	refuted "not proven to stand in the log"
	edit '.objects[0].lines[0].line |= sub("\"op\""; "\"x-op\"")'
	checks 1 e.json
}

@test "an object more or less is refused" {
	cited
	edit 'del(.objects[] | select(.digest == "'"$OPERATION"'"))'
	refuted "which is not in the file"
	kistore -q cite --proof - "$PROJECT" >p.json
	jq -c --slurpfile p p.json '.objects += $p[0].objects |
		.objects |= unique_by(.digest)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	if cmp -s c.json e.json; then
		edit '.objects += [.objects[0]]'
		refuted "do not ascend"
	else
		refuted "nothing that the record refers to"
	fi
}

@test "members that nobody knows, and other spellings, are refused" {
	cited
	edit '.note = "trust me"'
	refuted "not a citation file"
	edit '.objects[0].lines[0].at = "now"'
	refuted "a line is not {line, proof}"
	jq . c.json >e.json
	refuted "not canonical"
	head -c -1 c.json >e.json
	refuted "ends in LF"
	edit '.format = "kistore-citation/2"'
	checks 8 e.json
	: >e.json
	checks 1 e.json
}

@test "a note with one signature more, or a bad one, is refused" {
	cited
	stored_note >note
	add_line note signature_line other.key
	jq -c --rawfile n note '.objects[0].lines[0].proof |=
		(split("\n\n")[0] + "\n\n" + $n)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	refuted "another note than the others"
	# In all proofs, a line of nobody's is harmless: it is ignored.
	jq -c --rawfile n note '.objects[].lines[].proof |=
		(split("\n\n")[0] + "\n\n" + $n)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	checks 0 e.json
	note_text >text
	note_of text signature_line thief.key >note
	jq -c --rawfile n note '.objects[].lines[].proof |=
		(split("\n\n")[0] + "\n\n" + $n)' c.json |
		"$KISTORE" canon - >e.json
	echo >>e.json
	checks 6 e.json
}

# ---- By a store ---------------------------------------------------------------

@test "a store says what was retracted or superseded since" {
	cited
	expect 0 kistore check --key "$VKEY" c.json
	out_has "store: not retracted, not superseded, by 9 entries"
	# Nobody has signed that yet.
	kistore -q retract "$RUN" --reason 'timer bug' >/dev/null
	expect 0 kistore check --key "$VKEY" c.json
	snapshot log.key
	expect 7 kistore check --key "$VKEY" c.json
	out_has "retracted: c.json"
	out_has "store: retracted, by 10 entries"
	out_has "by: entry 9 of $AT"
	out_has "reason: timer bug"
	checks 0 c.json
	kistore -q restore "$RUN" --reason fine >/dev/null
	snapshot log.key
	expect 0 kistore check --key "$VKEY" c.json
	expect 6 kistore check c.json
}

@test "a store of another log does not answer" {
	cited
	use_store new.git
	kistore init new.git >/dev/null
	kistore -q put "$SEEDS"/project.json "$SEEDS"/operation.json \
		"$SEEDS"/workload.json "$SEEDS"/protocol.json \
		"$SEEDS"/implementation.json "$SEEDS"/environment.json \
		"$SEEDS"/run.json >/dev/null
	for _ in 1 2 3; do
		kistore -q retract "$RUN" --reason x >/dev/null
	done
	expect 1 kistore check --key "$VKEY" c.json
	err_has "the store is another log"
}

@test "a text or a digest is looked up in a store" {
	kistore -q cite "$RUN" >c.txt
	expect 0 kistore check --key "$VKEY" c.txt
	out_has "proven: c.txt"
	out_has "published: entry 7 of the 9"
	expect 0 kistore check --key "$VKEY" "$RUN"
	out_has "proven: $RUN"
	expect 0 kistore check --key "$VKEY" "${RUN#sha256:}"
	expect 6 kistore check c.txt
	expect 6 kistore check --key "$THIEF" c.txt
	sed 's/621.5/62.15/' c.txt >e.txt
	expect 1 kistore check --key "$VKEY" e.txt
	out_has "the store gives: $TEXT"
	expect 3 kistore check --key "$VKEY" "sha256:$(printf '%064d' 0)"
	echo nothing >e.txt
	expect 1 kistore check --key "$VKEY" e.txt
	echo "$RUN $WORKLOAD" >e.txt
	expect 1 kistore check --key "$VKEY" e.txt
	next_snapshot
	expect 7 kistore check --key "$VKEY" c.txt
	expect 7 kistore check --key "$VKEY" "$RUN"
	mkdir empty
	cd empty
	expect 3 alone "$KISTORE" check --key "$VKEY" "$RUN"
	err_has 'it proves nothing by itself, and is looked up in a store (-C DIR)'
	expect 5 alone "$KISTORE" check --key "$VKEY" c3252a98
	err_is "kistore: c3252a98: is neither a file that can be read nor a digest in full (kistore resolve prints it)"
}

@test "what nobody has signed makes no text a proven one" {
	kistore -q cite "$RUN" >c.txt
	echo '{"name": "x", "title": "Better name"}' >metadata
	kistore -q annotate "$OPERATION" --metadata metadata >/dev/null
	kistore -q cite "$RUN" >e.txt
	grep -qF 'Better name' e.txt
	expect 1 kistore check --key "$VKEY" e.txt
	expect 0 kistore check --key "$VKEY" c.txt
	snapshot log.key
	expect 0 kistore check --key "$VKEY" e.txt
	expect 1 kistore check --key "$VKEY" c.txt
}

@test "what was taken down since is said" {
	cited
	kistore -q cite "$RUN" >c.txt
	kistore -q takedown "$RUN" --reason law >/dev/null
	snapshot log.key
	expect 3 kistore check --key "$VKEY" c.json
	out_has "taken down: c.json"
	out_has "reason: law"
	expect 3 kistore check --key "$VKEY" c.txt
	checks 0 c.json
}

# ---- Several, and for programs ------------------------------------------------

@test "of several files the gravest counts, and each has its object" {
	cited
	edit '.citation |= sub("621.5"; "62.15")'
	expect 1 alone "$KISTORE" check --json --key "$VKEY" c.json e.json none
	jq -es 'map([.file, .verdict, .exit]) ==
		[["c.json", "proven", 0], ["e.json", "refuted", 1],
		["none", "not checked", 5]] and
		all(.schema == "kistore-check/1") and
		.[0].record == "'"$RUN"'" and .[0].store == null and
		.[0].entry == 7 and .[0].size == 9 and
		.[0].origin == "'"$ORIGIN"'" and
		.[0].signature.verdict == "signed" and .[0].provenAt == null and
		(.[0].notShown | contains("retracted"))' "$OUT"
	expect 5 alone "$KISTORE" check --key "$VKEY" c.json none
	expect 2 alone "$KISTORE" check
}

@test "a file is checked without network, git or writing" {
	need_command strace
	skip_under_sanitizer "strace"
	cited
	forget
	strace -f -o trace env -u KISTORE_DIR "$KISTORE" check --key "$VKEY" \
		c.json >/dev/null || { cat trace; return 1; }
	grep -q 'c\.json' trace
	# What the dynamic linker does comes before the file is opened.
	sed -n '/"c\.json"/,$p' trace >after
	if grep -E 'connect|\.git|O_CREAT|O_WRONLY|O_RDWR|mkdir' after ||
		grep -F 'socket(' trace; then
		return 1
	fi
	[ ! -e "$XDG_STATE_HOME" ]
}

@test "every vector of tlog-proof is judged as it says" {
	need_shared vectors/trust/tlog_proof/index.json
	dir=$SHARED/vectors/trust/tlog_proof
	count=0
	key=$(jq -r .log_vkey "$dir/index.json")
	{
		echo "log $key"
		jq -r '.witness_vkeys | to_entries[] |
			"witness w\(.key) \(.value)"' "$dir/index.json"
		echo 'group both all w0 w1'
		echo 'quorum both'
	} >policy
	while read -r expected file hex; do
		bytes_of_hex "$hex" >entry
		try alone "$KISTORE" check --policy policy --entry entry \
			"$dir/$file"
		case $expected in
		ok) [ "$status" -eq 0 ] ;;
		ok-without-quorum)
			[ "$status" -eq 6 ] && alone "$KISTORE" check --key \
				"$key" --entry entry "$dir/$file" >"$OUT" ;;
		reject) [ "$status" -eq 1 ] || [ "$status" -eq 6 ] ;;
		*) false ;;
		esac || { echo "$file: $status"; cat "$OUT" "$ERR"; return 1; }
		count=$((count + 1))
	done < <(jq -r '.cases[] | "\(.expect) \(.file) \(.leaf_hex)"' \
		"$dir/index.json")
	[ "$count" -eq 34 ]
}
