# shellcheck shell=bash
# Keys, signed notes and tags made by hand, with openssl, ssh-keygen, git and
# python3, and a store that is signed: load ../lib/sign, after ../lib/common and
# ../lib/store.
#
# What a thief or a mirror does to a store is done here without kistore, unless
# the test is about what kistore itself lets them do. The signer's memory is in
# ./signer, the verifier's pins and what he accepted in $XDG_STATE_HOME.

ORIGIN=archive.example/log
OTHER=other.example/log
SEGMENT=log/000/000.jsonl
AT=2026-08-17T20:53:20Z		# of all entries that the tests write
export ORIGIN OTHER SEGMENT AT

# ---- Keys -------------------------------------------------------------------

# make_key FILE NAME: FILE.ssh, an OpenSSH key; FILE.key, the same in PKCS#8 with
# a line that names it; FILE.vkey.
make_key() {
	ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1.ssh"
	{
		echo "Name: $2"
		sed '/^-/d' "$1.ssh" | base64 -d | python3 -c '
import sys
blob = sys.stdin.buffer.read()
at = blob.rindex(b"\0\0\0\x40") + 4
sys.stdout.buffer.write(bytes.fromhex(
    "302e020100300506032b657004220420") + blob[at:at + 32])' |
			openssl pkey -inform DER
	} >"$1.key"
	vkey_of "$1.key" >"$1.vkey"
}

# public_of KEY: the 32 bytes of the public half.
public_of() {
	openssl pkey -in "$1" -pubout -outform DER | tail -c 32
}

name_of() {
	sed -n 's/^Name: //p' "$1"
}

# id_of KEY [TYPE [NAME]]: eight hex digits. TYPE is 01 or 04.
id_of() {
	{
		printf '%s\n' "${3-$(name_of "$1")}"
		printf '%b' "\\x${2-01}"
		public_of "$1"
	} | sha256sum | cut -c1-8
}

# vkey_of KEY [TYPE [NAME]]
vkey_of() {
	printf '%s+%s+%s\n' "${3-$(name_of "$1")}" "$(id_of "$@")" "$({
		printf '%b' "\\x${2-01}"
		public_of "$1"
	} | base64 -w0)"
}

# ---- Notes ------------------------------------------------------------------

# The signature by KEY of standard input, 64 bytes.
raw_signature() {
	cat >"$BATS_TEST_TMPDIR/to-sign"
	openssl pkeyutl -sign -inkey "$1" -rawin -in "$BATS_TEST_TMPDIR/to-sign"
}

bytes_of_hex() {
	local hex=$1
	while [ -n "$hex" ]; do
		printf '%b' "\\x${hex:0:2}"
		hex=${hex:2}
	done
}

# signature_line KEY [NAME] <TEXT: a line of type 01, under the name of the key
# or another.
signature_line() {
	local name=${2-$(name_of "$1")}
	printf '\xe2\x80\x94 %s %s\n' "$name" "$({
		bytes_of_hex "$(id_of "$1" 01 "$name")"
		raw_signature "$1"
	} | base64 -w0)"
}

# cosignature_line KEY TIME <TEXT: a line of type 04 (C2SP tlog-cosignature).
cosignature_line() {
	local name
	name=$(name_of "$1")
	printf '\xe2\x80\x94 %s %s\n' "$name" "$({
		bytes_of_hex "$(id_of "$1" 04)"
		bytes_of_hex "$(printf '%016x' "$2")"
		{
			printf 'cosignature/v1\ntime %s\n' "$2"
			cat
		} | raw_signature "$1"
	} | base64 -w0)"
}

# text_of NOTE: what its lines sign.
text_of() {
	sed '/^$/,$d' "$1"
}

# The lines of the log, as HEAD or REV has it.
log_lines() {
	lines_at HEAD
}

lines_at() {
	git -C "$KISTORE_DIR" show "$1:$SEGMENT"
}

# log_root [SIZE] <LINES: the root, in base64, by nothing of kistore's.
log_root() {
	python3 -c '
import base64, hashlib, sys
def sha(b): return hashlib.sha256(b).digest()
def leaf(line):
    if line[:1] == b"-": return bytes.fromhex(line[1:].decode())
    return sha(b"\0" + line)
def root(h):
    if len(h) < 2: return h[0] if h else sha(b"")
    k = 1 << (len(h) - 1).bit_length() - 1
    return sha(b"\1" + root(h[:k]) + root(h[k:]))
lines = sys.stdin.buffer.read().split(b"\n")[:-1]
size = int(sys.argv[1]) if len(sys.argv) > 1 else len(lines)
assert size <= len(lines)
print(base64.b64encode(root([leaf(l) for l in lines[:size]])).decode())' "$@"
}

# consistent OLD NEW <PROOF: whether base64 lines prove (RFC 9162, 2.1.4.2) that
# the log of the note NEW begins with that of OLD.
consistent() {
	python3 -c '
import base64, hashlib, sys
def node(l, r): return hashlib.sha256(b"\1" + l + r).digest()
def note(path):
    lines = open(path, "rb").read().split(b"\n")
    return int(lines[1]), base64.b64decode(lines[2], validate=True)
(first, old), (second, new) = note(sys.argv[1]), note(sys.argv[2])
path = [base64.b64decode(l, validate=True) for l in
    sys.stdin.read().split()]
if first == second: sys.exit(path != [] or old != new)
if not path or first > second: sys.exit(1)
if first & (first - 1) == 0: path.insert(0, old)
fn, sn = first - 1, second - 1
while fn & 1: fn >>= 1; sn >>= 1
fr = sr = path[0]
for c in path[1:]:
    if sn == 0: sys.exit(1)
    if fn & 1 or fn == sn:
        fr, sr = node(c, fr), node(c, sr)
        while fn != 0 and not fn & 1: fn >>= 1; sn >>= 1
    else:
        sr = node(sr, c)
    fn >>= 1; sn >>= 1
sys.exit(not (fr == old and sr == new and sn == 0))' "$1" "$2"
}

# prove OLD NEW <LINES: the consistency proof between two sizes of a log, by RFC
# 6962 section 2.1.2.
prove() {
	python3 -c '
import base64, hashlib, sys
def sha(b): return hashlib.sha256(b).digest()
def split(n): return 1 << (n - 1).bit_length() - 1
def root(h):
    if len(h) == 1: return h[0]
    return sha(b"\1" + root(h[:split(len(h))]) + root(h[split(len(h)):]))
def sub(m, h, whole):
    if m == len(h): return [] if whole else [root(h)]
    k = split(len(h))
    if m <= k: return sub(m, h[:k], whole) + [root(h[k:])]
    return sub(m - k, h[k:], False) + [root(h[:k])]
lines = sys.stdin.buffer.read().split(b"\n")[:int(sys.argv[2])]
for h in sub(int(sys.argv[1]), [sha(b"\0" + l) for l in lines], True):
    print(base64.b64encode(h).decode())' "$1" "$2"
}

# note_text [ORIGIN [SIZE]]: the checkpoint of the log at HEAD.
note_text() {
	local size=${2-$(log_lines | wc -l)}
	printf '%s\n%s\n%s\n' "${1-$ORIGIN}" "$size" \
		"$(log_lines | log_root "$size")"
}

# note_of TEXT COMMAND…: the note with the line that COMMAND makes of the text in
# a file. add_line NOTE COMMAND…: one more line.
note_of() {
	cat "$1"
	echo
	"${@:2}" <"$1"
}

add_line() {
	text_of "$1" >"$BATS_TEST_TMPDIR/text"
	"${@:2}" <"$BATS_TEST_TMPDIR/text" >>"$1"
}

# hand_note KEY [ORIGIN [SIZE]]: a note of the log.
hand_note() {
	note_text "${@:2}" >"$BATS_TEST_TMPDIR/text"
	note_of "$BATS_TEST_TMPDIR/text" signature_line "$1"
}

# ---- Changing the store, with stock git ---------------------------------------

# change: commit to main what fast-import is told, which is one process where an
# index takes six.
change() {
	{
		printf 'commit refs/heads/main\n'
		printf 'committer T <t@example.org> 1787000000 +0000\n'
		printf 'data 7\nby hand\nfrom refs/heads/main^0\n'
		cat
	} | git -C "$KISTORE_DIR" fast-import --quiet
}

# file_change PATH FILE [MODE]: what `change` is told of one file.
file_change() {
	printf 'M %s inline %s\ndata %s\n' "${3-100644}" "$1" \
		"$(stat -c %s "$2")"
	cat "$2"
	echo
}

# These take the place of those in store.bash.
replace() {
	file_change "$@" | change
}

remove() {
	printf 'D %s\n' "$@" | change
}

# append LINE…: commit entries.
append() {
	{
		log_lines
		printf '%s\n' "$@"
	} >"$BATS_TEST_TMPDIR/appended"
	replace "$SEGMENT" "$BATS_TEST_TMPDIR/appended"
}

# Entries, as the tests need them.
retract_entry() {
	printf '{"at":"%s","digest":"%s","op":"retract","reason":"%s"}' \
		"$AT" "$1" "${2-forged}"
}

annotate_entry() {
	printf '{"at":"%s","digest":"%s","metadata":{"name":"%s"},%s}' \
		"$AT" "$1" "${2-forged}" '"op":"annotate"'
}

takedown_entry() {
	printf '{"at":"%s","digest":"%s","op":"takedown","reason":"forged"}' \
		"$AT" "$1"
}

# key_entry VKEY [NEXT-VKEY [NAME]]
key_entry() {
	local next=
	[ -z "${2-}" ] || next="\"next\":\"sha256:$(printf %s "$2" |
		sha256sum | cut -c1-64)\","
	printf '{"at":"%s","key":"%s",%s"op":"key","origin":"%s",%s}' \
		"$AT" "$1" "$next" "${3-$ORIGIN}" '"role":"log"'
}

# publish_note NOTE [SIZE]: commit it as checkpoint and checkpoints/SIZE.
publish_note() {
	{
		file_change checkpoint "$1"
		file_change "checkpoints/${2-$(sed -n 2p "$1")}" "$1"
	} | change
}

# sign_by_hand KEY: publish a note of the log at HEAD.
sign_by_hand() {
	hand_note "$1" >"$BATS_TEST_TMPDIR/by-hand"
	publish_note "$BATS_TEST_TMPDIR/by-hand"
}

# hand_tag SSH-KEY NAME NOTE [REV]: the text of a signed tag; "tag it" by
# tag_object REF <TEXT.
hand_tag() {
	{
		printf 'object %s\ntype commit\ntag %s\n' \
			"$(git -C "$KISTORE_DIR" rev-parse "${4-HEAD}")" "$2"
		printf 'tagger T <t@example.org> 1787000000 +0000\n\n'
		cat "$3"
	} >"$BATS_TEST_TMPDIR/payload"
	cat "$BATS_TEST_TMPDIR/payload"
	ssh-keygen -q -Y sign -n git -f "$1" - <"$BATS_TEST_TMPDIR/payload"
}

# tag_object REF: standard input as a tag object, whatever it is.
tag_object() {
	git -C "$KISTORE_DIR" update-ref "refs/tags/$1" "$(
		git -C "$KISTORE_DIR" hash-object -t tag -w --literally --stdin)"
}

# ---- A signed store -----------------------------------------------------------

# as_signer COMMAND…: with the memory of the signer.
as_signer() {
	XDG_STATE_HOME=$PWD/signer "$@"
}

# stored_note [SIZE]: the newest note of the store, or that of a size.
# shellcheck disable=SC2120 # tests pass arguments
stored_note() {
	git -C "$KISTORE_DIR" show "HEAD:checkpoint${1:+s/$1}"
}

# snapshot KEY [OPTION…]: sign what there is.
snapshot() {
	as_signer kistore -q snapshot create --key "$1" "${@:2}" >/dev/null
}

# grow COUNT: so many entries more, and a snapshot.
grow() {
	local i
	rm -rf raw
	mkdir raw
	for ((i = 0; i < $1; i++)); do
		echo "$i of $RANDOM" >"raw/$i"
	done
	kistore artifact put raw/* >/dev/null
	snapshot log.key
}

# signed_store: demo.git, the seeds' seven records, signed at size 9 by log.key;
# beside it thief.key, of the same name, and other.key, of another.
signed_store() {
	once signed sign_store
	use_store demo.git
	VKEY=$(<log.vkey)
	THIEF=$(<thief.vkey)
	export VKEY THIEF
}

sign_store() {
	seed_store
	make_key log "$ORIGIN"
	make_key thief "$ORIGIN"
	make_key other "$OTHER"
	snapshot log.key --first
}

# pin [VKEY]: verify, accept and pin.
pin() {
	kistore verify --key "${1-$VKEY}" --pin >/dev/null
}

# forget: the verifier remembers nothing.
forget() {
	rm -rf "$XDG_STATE_HOME"
}

# The file in which the verifier's state keeps what it has of an origin:
# state_file pins|accepted [ORIGIN].
state_file() {
	echo "$XDG_STATE_HOME/kistore/$1/$(printf %s "${2-$ORIGIN}" |
		sha256sum | cut -c1-64)"
}

# ---- Judging --------------------------------------------------------------------

# verdict TEXT: the last verify said so, after "signature: ".
verdict() {
	grep -qF -- "signature: $1" "$OUT" && return
	echo "no such verdict: $1"
	cat "$OUT" "$ERR"
	return 1
}

# out_has TEXT: one line of the output contains it.
out_has() {
	grep -qF -- "$1" "$OUT" && return
	echo "not printed: $1"
	cat "$OUT" "$ERR"
	return 1
}

# out_lacks TEXT, err_lacks TEXT: no line of it contains that.
out_lacks() {
	grep -qF -- "$1" "$OUT" || return 0
	echo "printed: $1"
	cat "$OUT" "$ERR"
	return 1
}

err_lacks() {
	grep -qF -- "$1" "$ERR" || return 0
	echo "said: $1"
	cat "$OUT" "$ERR"
	return 1
}

# fails COMMAND…: it does.
fails() {
	local status
	try "$@"
	[ "$status" -ne 0 ] && return
	echo "did not fail: $*"
	cat "$OUT" "$ERR"
	return 1
}

# finding SEVERITY PATH WORDS: the last verify found that.
finding() {
	grep -F -- "$1 $2 " "$OUT" | grep -qF -- "$3" && return
	echo "not found: $1 $2 $3"
	cat "$OUT" "$ERR"
	return 1
}

no_finding() {
	grep -qx 'found nothing wrong' "$OUT" && return
	echo "something was found:"
	cat "$OUT" "$ERR"
	return 1
}

# ---- What the tests of trust do ---------------------------------------------------

# Somebody without the key appends an annotation, a retraction and a takedown.
unsigned_tail() {
	append "$(annotate_entry "$PROJECT")" "$(retract_entry "$RUN")" \
		"$(takedown_entry "$WORKLOAD")"
}

# trusts STATUS [OPTION…]: verify for a user who trusts the log's key.
trusts() {
	expect "$1" kistore verify --key "$VKEY" "${@:2}"
}

# signed_by KEY SIZE: the last verify accepted that, and found nothing.
signed_by() {
	verdict "signed by $(name_of "$1")+$(id_of "$1")"
	out_has "signed: $2 entries"
	no_finding
}

accepted_note() {
	cat "$(state_file accepted)"
}

# One more entry, signed by the log's key.
next_snapshot() {
	kistore -q retract "$RUN" --reason wrong >/dev/null
	snapshot log.key
}

# Without what a snapshot leaves behind in the repository but not in its tree.
drop_tags() {
	git -C demo.git tag | xargs -r git -C demo.git tag -d >/dev/null
}

# The log without the run's line, with other ones after it, signed by the key in
# FILE: `git reset` and a stolen key.
fork_log() {
	{
		log_lines | sed '8d'
		annotate_entry "$PROJECT" stolen
		echo
		retract_entry "$WORKLOAD" stolen
		echo
	} >forked
	replace "$SEGMENT" forked
	remove "$(object_path "$RUN")" checkpoints/9
	drop_tags
	sign_by_hand "$1"
}

signer_memory() {
	find signer -type f ! -name kistore.lock -exec sha256sum {} + | sort
}

# A signer is told no, and neither signs nor writes nor forgets.
not_signed() {
	local before
	before=$(commit_id)
	signer_memory >memory
	git -C demo.git show-ref >refs
	try as_signer kistore -q snapshot create --key "${@:2}"
	[ "$status" -eq "$1" ] || { cat "$OUT" "$ERR"; return 1; }
	silent_out
	[ "$(commit_id)" = "$before" ]
	signer_memory | diff memory -
	git -C demo.git show-ref | diff refs -
}

# policy_file [LINE…]: the log, a witness W, and what else is given.
policy_file() {
	printf 'log %s\nwitness W %s\n' "$VKEY" "$(vkey_of witness.key 04)"
	printf '%s\n' "$@"
}

witness() {
	[ -e "${1-witness}.key" ] || make_key "${1-witness}" "${1-witness}.example/w"
}

# cosign [TIME [WITNESS]]: into the newest note.
cosign() {
	# shellcheck disable=SC2119 # the newest
	stored_note >"$BATS_TEST_TMPDIR/note"
	text_of "$BATS_TEST_TMPDIR/note" |
		cosignature_line "${2-witness}.key" "${1-1787000001}" >line
	kistore -q snapshot add-cosignature \
		--key "$(vkey_of "${2-witness}.key" 04)" line >/dev/null
}
