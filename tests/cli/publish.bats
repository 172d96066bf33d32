#!/usr/bin/env bats
# kistore publish: the directory that web servers show (store-layout.md, section
# "W"). What is in it is judged by tests/lib/tiles.py, git, zstd and sha256sum.

load ../lib/common
load ../lib/store
load ../lib/sign
load ../lib/web

prepare() {
	signed_store
	WWW=$BATS_TEST_TMPDIR/www
}

publish() {
	kistore publish "$@"
}

# tiles SIZE [TAKEN-DOWN] [DIR]
tiles() {
	local told
	need_command python3
	told=$(python3 "$REPO/tests/lib/tiles.py" "${3-$WWW}" "$ORIGIN") || {
		echo "$told"
		return 1
	}
	[ "$told" = "$1 ${2-0}" ] || {
		echo "tiles: $told, not $1 ${2-0}"
		return 1
	}
}

# state [DIR]: every file with inode, size and times. names: alone.
# shellcheck disable=SC2120 # tests pass arguments
state() {
	find "${1-$WWW}" -printf '%P %i %s %T@ %C@ %m\n' | sort
}

names() {
	(cd "$WWW" && find . -type f | sort)
}

# objects: all that are there have their digests; how many.
objects() {
	local path hex
	(
		cd "$WWW" || exit
		find objects -type f | while read -r path; do
			hex=${path#objects/}
			hex=${hex%.zst}
			hex=${hex//\//}
			zstd -dqc "$path" | sha256sum | grep -q "^$hex" ||
				echo "wrong: $path"
		done
		find objects -type f | wc -l
	)
}

# ---- What is made ------------------------------------------------------------

@test "tiles, objects, snapshot and repository are there, and as they should be" {
	expect 0 publish "$WWW"
	silent_err
	grep -qE "^published 9 entries of $ORIGIN: wrote 17 files, [0-9]+ bytes; removed 0\$" "$OUT"
	tiles 9
	cmp <(stored_note) "$WWW/checkpoint"
	[ "$(objects)" = 7 ]
	expect 0 kistore snapshot verify "$WWW/snapshot/9.kistore" --key "$VKEY"
	[ "$(ls "$WWW")" = "$(printf '%s\n' checkpoint objects repository.git \
		snapshot tile)" ]
}

@test "files are 0644 and directories 0755, whatever the umask" {
	(umask 077 && publish "$WWW")
	[ -z "$(find "$WWW" -type f ! -perm 0644)" ]
	[ -z "$(find "$WWW" -type d ! -perm 0755)" ]
	rm -rf "$WWW"
	(umask 0 && publish "$WWW")
	[ -z "$(find "$WWW" -type f ! -perm 0644)" ]
	[ -z "$(find "$WWW" -type d ! -perm 0755)" ]
}

@test "the program that judges tiles agrees with the vectors, and finds each fault" {
	need_command python3
	need_shared vectors/trust/log300
	cp -R "$SHARED/vectors/trust/log300" log
	chmod -R u+w log
	[ "$(python3 "$REPO/tests/lib/tiles.py" log)" = "300 0" ]
	local file
	for file in tile/0/000 tile/0/001.p/44 tile/1/000.p/1 tile/entries/000; do
		cp -R log bad
		printf 'X' | dd of="bad/$file" bs=1 seek=7 conv=notrunc status=none
		fails python3 "$REPO/tests/lib/tiles.py" bad
		rm "bad/$file"
		fails python3 "$REPO/tests/lib/tiles.py" bad
		rm -rf bad
	done
}

@test "the receipt as JSON counts what was written" {
	expect 0 kistore publish --json "$WWW"
	jq -e '.schema == "kistore-publish/1" and .size == 9 and .served == 0
		and .changed and .repository and .wrote.objects == 7
		and .wrote.tiles == 1 and .wrote.bundles == 1
		and .wrote.packs == 1 and .wrote.files == 17
		and .removed == 0' "$OUT"
	[ "$(jq .wrote.bytes "$OUT")" = "$(find "$WWW" -type f -printf '%s\n' |
		awk '{ sum += $1 } END { print sum }')" ]
	expect 0 kistore publish --json "$WWW"
	jq -e '.served == 9 and (.changed | not) and .wrote.files == 0' "$OUT"
}

@test "stock git clones what a plain web server shows" {
	publish "$WWW" >/dev/null
	web_start "$WWW"
	clone_is clone "$(commit_id)"
	[ "$(git -C clone tag)" = snapshot/9 ]
	expect 0 kistore -C clone verify --key "$VKEY"
}

@test "an unsigned tail is not published" {
	kistore retract "$RUN" --reason late >/dev/null
	local snapshot
	snapshot=$(git -C "$KISTORE_DIR" rev-parse HEAD^)
	publish "$WWW" >/dev/null
	tiles 9
	web_start "$WWW"
	clone_is clone "$snapshot"
}

@test "neither grafts nor replaced commits change what is published" {
	local commit fake
	commit=$(commit_id)
	fake=$(git -C "$KISTORE_DIR" commit-tree -m fake \
		"$(git -C "$KISTORE_DIR" rev-parse 'HEAD^{tree}')")
	mkdir -p "$KISTORE_DIR/info"
	echo "$commit" >"$KISTORE_DIR/info/grafts"
	git -C "$KISTORE_DIR" update-ref \
		"refs/replace/$(git -C "$KISTORE_DIR" cat-file commit "$commit" |
			sed -n 's/^parent //p')" "$fake"
	publish "$WWW" >/dev/null
	web_start "$WWW"
	clone_is clone "$commit"
	[ "$(git -C clone rev-list --count HEAD)" -ge 3 ]
}

# ---- Going on ----------------------------------------------------------------

@test "with nothing new nothing is written" {
	publish "$WWW" >/dev/null
	state >before
	expect 0 publish "$WWW"
	out_is "nothing new: 9 entries of $ORIGIN are published"
	diff before <(state)
}

@test "only what is new is written, and partial tiles stay until they are full" {
	publish "$WWW" >/dev/null
	grow 200
	expect 0 kistore publish --json "$WWW"
	tiles 209
	jq -e '.wrote.objects == 200 and .wrote.tiles == 1 and .wrote.bundles == 1
		and .wrote.packs == 1 and .removed == 1' "$OUT"
	[ -e "$WWW/tile/0/000.p/9" ]
	[ -e "$WWW/tile/entries/000.p/9" ]
	[ ! -e "$WWW/snapshot/9.kistore" ]
	find "$WWW" -type f -printf '%P %i %C@\n' | sort >before
	grow 100
	expect 0 kistore publish --json "$WWW"
	tiles 309
	jq -e '.wrote.objects == 100 and .wrote.tiles == 3 and .wrote.bundles == 2
		and .wrote.packs == 1' "$OUT"
	[ ! -e "$WWW/tile/0/000.p" ]
	[ ! -e "$WWW/tile/entries/000.p" ]
	[ "$(objects)" = 307 ]
	# What was there and is there still was not touched, but for the lists.
	find "$WWW" -type f -printf '%P %i %C@\n' | sort >after
	comm -23 before after | cut -d' ' -f1 >gone
	diff gone - <<-END
	checkpoint
	repository.git/info/refs
	repository.git/objects/info/packs
	snapshot/209.kistore
	tile/0/000.p/209
	tile/0/000.p/9
	tile/entries/000.p/209
	tile/entries/000.p/9
	END
	web_start "$WWW"
	clone_is clone "$(commit_id)"
	[ "$(git -C clone tag | wc -l)" = 3 ]
}

@test "a first run has the partial tiles of all snapshots that need them" {
	grow 20
	publish "$WWW" >/dev/null
	[ "$(ls "$WWW/tile/0/000.p")" = "$(printf '%s\n' 29 9)" ]
	[ "$(ls "$WWW/tile/entries/000.p")" = "$(printf '%s\n' 29 9)" ]
	tiles 29
}

@test "an earlier snapshot can be published, and gone on from, but not back to" {
	grow 20
	expect 0 publish --at 9 "$WWW"
	tiles 9
	[ "$(objects)" = 7 ]
	expect 0 publish "$WWW"
	tiles 29
	state >before
	expect 4 publish --at 9 "$WWW"
	err_has 'serves 29 entries already, more than the 9'
	diff before <(state)
	expect 3 publish --at 10 other
	[ ! -e other ]
}

@test "a cosignature changes the checkpoint alone" {
	publish "$WWW" >/dev/null
	state >before
	stored_note >note
	add_line note cosignature_line other.key 1787000000
	kistore snapshot add-cosignature --key "$(vkey_of other.key 04)" note \
		>/dev/null
	expect 0 kistore publish --json "$WWW"
	cmp note "$WWW/checkpoint"
	jq -e '.wrote.tiles == 0 and .wrote.objects == 0' "$OUT"
}

@test "what is lost or damaged among tiles is made again" {
	grow 300
	publish "$WWW" >/dev/null
	cp -R "$WWW" kept
	rm "$WWW/tile/entries/000" "$WWW/tile/1/000.p/1"
	printf 'X' | dd of="$WWW/tile/0/000" bs=1 seek=9 conv=notrunc status=none
	rm "$WWW"/repository.git/objects/pack/*.idx
	expect 0 publish "$WWW"
	tiles 309
	diff -r kept "$WWW"
}

@test "packs that have become many are made into one" {
	local i packs=$WWW/repository.git/objects/info/packs
	publish "$WWW" >/dev/null
	grow 2
	publish "$WWW" >/dev/null
	[ "$(grep -c '^P ' "$packs")" = 2 ]
	for ((i = 0; i < 48; i++)); do
		sed -n 1p "$packs"
	done >list
	cat "$packs" >>list
	cp list "$packs"
	grow 2
	publish "$WWW" >/dev/null
	[ "$(grep -c '^P ' "$packs")" = 1 ]
	[ "$(find "$WWW/repository.git" -name '*.pack' | wc -l)" = 1 ]
	web_start "$WWW"
	clone_is clone "$(commit_id)"
}

@test "a history that was rewritten otherwise is published anew" {
	local tree
	publish "$WWW" >/dev/null
	tree=$(git -C "$KISTORE_DIR" rev-parse 'HEAD^{tree}')
	git -C "$KISTORE_DIR" update-ref refs/heads/main \
		"$(git -C "$KISTORE_DIR" commit-tree -m anew "$tree")"
	expect 0 publish "$WWW"
	[ "$(find "$WWW/repository.git" -name '*.pack' | wc -l)" = 1 ]
	web_start "$WWW"
	clone_is clone "$(commit_id)"
	[ -z "$(git -C clone tag)" ]
	tiles 9
}

# ---- Death -------------------------------------------------------------------

# dies_at CALL N COMMAND…: killed before its Nth such system call.
dies_at() {
	local call=$1 n=$2 code=0
	shift 2
	(
		strace -f -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$n" "$@" \
			>out 2>err &
		wait $!
	) 2>/dev/null || code=$?
	[ "$code" -eq 137 ]
}

# dies_everywhere CALL SIZE…: wherever a run is killed, what is served is whole
# and of one of these sizes; and the next run makes the same as one that was not.
dies_everywhere() {
	local call=$1 n=1 size count=0
	shift
	while :; do
		rm -rf "$WWW"
		[ ! -d begun ] || cp -a begun "$WWW"
		dies_at "$call" "$n" "$KISTORE" publish --cite "$RUN" "$WWW" ||
			break
		if [ -e "$WWW/checkpoint" ]; then
			size=$(sed -n 2p "$WWW/checkpoint")
			[[ " $* " = *" $size "* ]]
			tiles_served "$size"
		fi
		expect 0 publish --cite "$RUN" "$WWW"
		diff -r -x pack -x packs whole "$WWW"
		[ -z "$(find "$WWW" -name '.kistore-new*')" ]
		n=$((n + 1))
		count=$((count + 1))
	done
	[ "$count" -ge "${LEAST-1}" ]
}

# What is superfluous, or of the size that is to come, does no harm.
tiles_served() {
	python3 "$REPO/tests/lib/tiles.py" "$WWW" "$ORIGIN" >told ||
		grep -qE '^(superfluous|beyond)' told
}

need_strace() {
	need_command strace python3
	skip_under_sanitizer "strace and leak detection"
	strace -qq -o /dev/null -e trace=none true ||
		skip "strace may not trace here"
}

@test "a first run may be killed at any moment" {
	need_strace
	publish --cite "$RUN" whole >/dev/null
	LEAST=18 dies_everywhere renameat 9
}

@test "a later run may be killed at any moment" {
	need_strace
	grow 245
	publish --cite "$RUN" begun >/dev/null
	grow 10
	cp -a begun whole
	publish --cite "$RUN" whole >/dev/null
	LEAST=16 dies_everywhere renameat 254 264
	LEAST=2 dies_everywhere unlinkat 254 264
}

# ---- Taking down -------------------------------------------------------------

@test "what is taken down goes from the directory, and the text with it" {
	grow 20
	publish "$WWW" >/dev/null
	grep -qr "${PROJECT#sha256:}" "$WWW/tile/entries/000.p/9"
	cp "$WWW/tile/0/000.p/9" kept-hashes
	kistore takedown "$PROJECT" --reason law --lines >/dev/null
	# Until that is signed, nothing is published that has it.
	expect 3 publish "$WWW"
	err_has 'S13'
	snapshot log.key
	expect 0 publish "$WWW"
	err_has 'kistore gc --purge'
	tiles 30 1
	[ ! -e "$WWW/$(object_path "$PROJECT")" ]
	[ ! -e "$WWW/repository.git" ]
	[ "$(ls "$WWW/snapshot")" = 30.kistore ]
	# Earlier widths say no more than the newest.
	for width in 9 29 30; do
		grep -q -- '-[0-9a-f]\{64\}' "$WWW/tile/entries/000.p/$width"
	done
	cmp kept-hashes "$WWW/tile/0/000.p/9"
	expect 0 kistore publish --json "$WWW"
	jq -e '(.changed | not) and (.repository | not)' "$OUT"
}

@test "a full bundle is replaced, and its tile is not" {
	grow 300
	publish "$WWW" >/dev/null
	cp -a "$WWW/tile/0/000" hashes
	kistore takedown "$PROJECT" --lines --reason law >/dev/null
	snapshot log.key
	expect 0 kistore publish --json "$WWW"
	# The full one and the last one.
	jq -e '.wrote.bundles == 2' "$OUT"
	tiles 310 1
	grep -q -- '-[0-9a-f]\{64\}' "$WWW/tile/entries/000"
	cmp hashes "$WWW/tile/0/000"
	[ "$(stat -c %y hashes)" = "$(stat -c %y "$WWW/tile/0/000")" ]
	state >before
	expect 0 publish "$WWW"
	diff before <(state)
	# What a mirror or a cache brought back goes again.
	printf 'X' | dd of="$WWW/tile/entries/000" bs=1 seek=50 conv=notrunc \
		status=none
	expect 0 publish "$WWW"
	tiles 310 1
}

@test "the repository is back once history was purged" {
	publish "$WWW" >/dev/null
	kistore takedown "$PROJECT" --reason law >/dev/null
	snapshot log.key
	publish "$WWW" >/dev/null
	[ ! -e "$WWW/repository.git" ]
	kistore gc --purge >/dev/null 2>&1
	expect 0 publish "$WWW"
	silent_err
	web_start "$WWW"
	clone_is clone "$(commit_id)"
	[ -z "$(git -C clone log --all --format=%H -- "$(object_path "$PROJECT")")" ]
	[ "$(find "$WWW/repository.git" -name '*.pack' | wc -l)" = 1 ]
}

# ---- Citation files ----------------------------------------------------------

# citation DIGEST: its file in the directory.
citation() {
	echo "$WWW/citations/${1#sha256:}.json"
}

# proven FILE…: by a user who has nothing else but the key.
proven() {
	expect 0 env -u KISTORE_DIR "$KISTORE" check --key "$VKEY" "$@"
}

@test "citation files are there on request, as cite writes them" {
	local record
	expect 0 publish --cite c3252a98 --cite "$OPERATION" "$WWW"
	silent_err
	grep -qE 'wrote 19 files \(citations: 2\), [0-9]+ bytes; removed 0$' \
		"$OUT"
	for record in "$RUN" "$OPERATION"; do
		kistore -q cite --proof - "$record" |
			cmp - "$(citation "$record")"
		proven "$(citation "$record")"
	done
	[ -z "$(find "$WWW/citations" -type f ! -perm 0644)" ]
	tiles 9
	# With nothing new nothing is written; what is lost or hurt is made again.
	state >before
	expect 0 publish --cite "$RUN" --cite "$RUN" "$WWW"
	out_is "nothing new: 9 entries of $ORIGIN are published"
	diff before <(state)
	rm "$(citation "$RUN")"
	echo >>"$(citation "$OPERATION")"
	expect 0 kistore publish --json --cite "$RUN" --cite "$RUN" \
		--cite "$OPERATION" "$WWW"
	jq -e '.wrote.citations == 2 and .wrote.files == 2' "$OUT"
	proven "$WWW"/citations/*
	expect 0 publish --cite "$RUN" --accessed 2027-01-02 "$WWW"
	kistore -q cite --proof - --accessed 2027-01-02 "$RUN" |
		cmp - "$(citation "$RUN")"
}

@test "a citation is proven by the snapshot that is published, and stays right" {
	publish --cite "$RUN" "$WWW" >/dev/null
	cp "$(citation "$RUN")" first
	kistore retract "$RUN" --reason late >/dev/null
	grow 19
	expect 0 publish "$WWW"
	cmp first "$(citation "$RUN")"
	proven "$(citation "$RUN")"
	out_has 'of the 9 that are signed'
	expect 0 publish --cite "$RUN" "$WWW"
	err_has 'is retracted'
	proven "$(citation "$RUN")"
	out_has 'of the 29 that are signed'
	kistore -q cite --proof - "$RUN" | cmp - "$(citation "$RUN")"
}

@test "what an older snapshot is asked to cite is read as of then" {
	echo '{"name": "later", "title": "Later"}' >metadata
	kistore annotate "$OPERATION" --metadata metadata >/dev/null
	snapshot log.key
	expect 3 publish --at 9 --cite later "$WWW"
	[ ! -e "$WWW" ]
	expect 0 publish --at 9 --cite "$OPERATION" "$WWW"
	kistore -q cite --at 9 --proof - "$OPERATION" |
		cmp - "$(citation "$OPERATION")"
	expect 0 publish --cite later "$WWW"
	kistore -q cite --proof - "$OPERATION" |
		cmp - "$(citation "$OPERATION")"
	grep -q Later "$(citation "$OPERATION")"
}

# refuses STATUS WORDS OPTION…: nothing is made, and nothing is changed.
refuses() {
	expect "$1" publish --cite "$OPERATION" "${@:3}" other
	err_has "$2"
	[ ! -e other ]
	expect "$1" publish --cite "$OPERATION" "${@:3}" "$WWW"
	diff before <(state)
}

@test "one citation that is refused refuses the run before it writes" {
	local raw late=$REPO/fixtures/seeds/closure/003
	publish "$WWW" >/dev/null
	grow 2
	raw=sha256:$(sha256sum <raw/1 | cut -d' ' -f1)
	kistore takedown "$WORKLOAD" --reason law >/dev/null
	snapshot log.key
	kistore -q put "$late" >/dev/null
	late=$(kistore digest "$late/operation.json" | cut -d' ' -f1)
	state >before
	refuses 3 ffffffffffff --cite ffffffffffff
	refuses 3 'not among the 12 entries that are signed' --cite "$late"
	refuses 4 'only records are cited' --cite "$raw"
	refuses 3 'was taken down' --cite "$WORKLOAD"
	refuses 3 'cannot be proven to be complete' --cite "$RUN"
	refuses 2 'no day' --accessed 2026-02-30
	SOURCE_DATE_EPOCH=never refuses 2 SOURCE_DATE_EPOCH
	expect 2 publish --accessed 2026-02-03 "$WWW"
	err_has '--accessed goes with --cite'
	expect 0 publish --cite "$OPERATION" "$WWW"
}

@test "citations of what is taken down go, and what is none goes with them" {
	publish --cite "$RUN" --cite "$OPERATION" --cite "$WORKLOAD" \
		--cite "$PROJECT" "$WWW" >/dev/null
	# While nothing is taken down, nobody looks.
	cp "$(citation "$OPERATION")" good
	cp good "$WWW/citations/operation.json"
	cp good "$(citation "${ROOT}")"
	cp good "$(citation "$RUN").json"
	sed "s/$OPERATION/$RUN/" good >"$(citation "${PROJECT%??}00")"
	: >"$(citation "${PROJECT%??}01")"
	head -c 17000000 /dev/zero >"$(citation "${PROJECT%??}02")"
	state >before
	expect 0 publish "$WWW"
	diff before <(state)
	kistore takedown "$WORKLOAD" --reason law >/dev/null
	snapshot log.key
	expect 0 publish "$WWW"
	[ "$(ls "$WWW/citations")" = "$(printf '%s.json\n' \
		"${PROJECT#sha256:}" "${OPERATION#sha256:}" | sort)" ]
	cmp good "$(citation "$OPERATION")"
	proven "$WWW"/citations/*
	# What a mirror or a cache brought back goes again.
	names >before
	cp good "$WWW/citations/again"
	expect 0 publish "$WWW"
	diff before <(names)
}

@test "a citation of another log goes, one of a later version stays and is told" {
	local record=$OPERATION
	publish --cite "$OPERATION" "$WWW" >/dev/null
	(
		make_key foreign foreign.example/log
		use_store foreign.git
		kistore init --origin foreign.example/log foreign.git >/dev/null
		kistore -q put "$SEEDS"/*.json >/dev/null
		snapshot foreign.key --first
		kistore -q cite --proof "$(citation "$RUN")" "$RUN" >/dev/null
	)
	kistore takedown "$WORKLOAD" --reason law >/dev/null
	snapshot log.key
	expect 0 publish "$WWW"
	[ "$(ls "$WWW/citations")" = "${record#sha256:}.json" ]
	sed 's,kistore-citation/1,kistore-citation/2,' \
		"$(citation "$OPERATION")" >"$(citation "$RUN")"
	state >before
	expect 8 publish "$WWW"
	err_has "${RUN#sha256:}.json"
	diff before <(state)
}

# ---- What is refused ---------------------------------------------------------

@test "an unsigned store is refused with one line" {
	rm -rf demo.git
	empty_store
	kistore -q put "$SEEDS"/*.json >/dev/null
	expect 6 publish "$WWW"
	silent_out
	err_is 'kistore: nothing is signed yet, and only what is signed is published (kistore snapshot create)'
	[ ! -e "$WWW" ]
}

@test "a directory with anything else in it is refused and left alone" {
	mkdir "$WWW"
	echo mine >"$WWW/index.html"
	state >before
	expect 4 publish "$WWW"
	err_has 'is not empty, and not what publish has made'
	diff before <(state)
	echo x >file
	expect 4 publish file
	expect 5 publish no/such/place
	err_is 'kistore: no/such/place: cannot be made: No such file or directory'
}

@test "another origin, or a fork of the same one, is refused" {
	publish "$WWW" >/dev/null
	sed 1s/archive/forged/ "$WWW/checkpoint" >changed
	cp "$WWW/checkpoint" good
	cp changed "$WWW/checkpoint"
	state >before
	expect 4 publish "$WWW"
	err_has "checkpoint is not of the log $ORIGIN"
	cp good "$WWW/checkpoint"
	cp "$WWW/.kistore-publish" mark
	echo "kistore-publish/1
$OTHER" >"$WWW/.kistore-publish"
	expect 4 publish "$WWW"
	err_has ".kistore-publish is not of the log $ORIGIN"
	cp mark "$WWW/.kistore-publish"
	sed "3s/.*/$(head -c 32 /dev/zero | base64)/" good >"$WWW/checkpoint"
	expect 4 publish "$WWW"
	err_has 'serves another log of the same origin'
	[ "$(names | wc -l)" = 17 ]
}

@test "no symbolic link in the directory is followed" {
	local place
	publish --cite "$RUN" "$WWW" >/dev/null
	cp -a "$WWW" good
	mkdir outside
	grow 3
	for place in tile tile/0 tile/entries tile/0/000.p objects snapshot \
		repository.git repository.git/objects/pack checkpoint \
		.kistore-publish citations "citations/${RUN#sha256:}.json"; do
		rm -rf "$WWW" outside
		cp -a good "$WWW"
		cp -a "$WWW/$place" outside
		rm -r "${WWW:?}/$place"
		ln -s "$PWD/outside" "$WWW/$place"
		state outside >before
		expect 5 publish --cite "$RUN" "$WWW"
		err_has 'is in the way'
		diff before <(state outside)
	done
	# Nor when citations are looked through.
	kistore takedown "$PROJECT" --reason law >/dev/null
	snapshot log.key
	for place in citations "citations/${RUN#sha256:}.json"; do
		rm -rf "$WWW" outside
		cp -a good "$WWW"
		mv "$WWW/$place" outside
		ln -s "$PWD/outside" "$WWW/$place"
		state outside >before
		expect 5 publish "$WWW"
		err_has 'is in the way'
		diff before <(state outside)
	done
}

@test "files and directories in each other's way are refused" {
	local place
	publish --cite "$RUN" "$WWW" >/dev/null
	cp -a "$WWW" good
	grow 3
	for place in tile/0/000.p objects/c snapshot repository.git/info \
		citations; do
		rm -rf "$WWW"
		cp -a good "$WWW"
		rm -r "${WWW:?}/$place"
		echo x >"$WWW/$place"
		expect 5 publish --cite "$RUN" "$WWW"
		err_has 'is in the way'
	done
	for place in checkpoint tile/0/000.p/12 snapshot/12.kistore \
		repository.git/info/refs "citations/${RUN#sha256:}.json"; do
		rm -rf "$WWW"
		cp -a good "$WWW"
		rm -f "${WWW:?}/$place"
		mkdir -p "$WWW/$place"
		expect 5 publish --cite "$RUN" "$WWW"
		err_has 'is in the way'
	done
	# The old state is served all the while, but for the one that was hurt.
	rm -r "$WWW"
	cp -a good "$WWW"
	expect 0 publish --cite "$RUN" "$WWW"
	tiles 12
}

@test "one process publishes at a time" {
	need_command flock
	publish "$WWW" >/dev/null
	expect 5 flock "$WWW" "$KISTORE" publish "$WWW"
	err_has 'another process is publishing here'
	expect 0 publish "$WWW"
}

@test "a damaged object is not published, and the checkpoint stays" {
	publish "$WWW" >/dev/null
	cp "$WWW/checkpoint" before
	grow 3
	local digest
	digest=sha256:$(sha256sum <raw/1 | cut -d' ' -f1)
	echo other | zstd -qc >frame
	replace "$(object_path "$digest")" frame
	expect 1 publish "$WWW"
	cmp before "$WWW/checkpoint"
	[ ! -e "$WWW/$(object_path "$digest")" ]
}

@test "entries that were changed since they were signed are not published" {
	log_lines | sed 's/"op":"init"/"op":"x-it"/' >changed
	replace "$SEGMENT" changed
	expect 1 publish "$WWW"
	[ ! -e "$WWW" ]
	mkdir "$WWW"
	expect 1 publish "$WWW"
	[ -z "$(ls -A "$WWW")" ]
}

@test "where the store is refused no directory is made" {
	cp -R demo.git kept.git
	sign_by_hand thief.key
	expect 1 publish "$WWW"
	err_has 'S3'
	[ ! -e "$WWW" ]
	rm -rf demo.git
	mv kept.git demo.git
	kistore -q takedown "$PROJECT" --reason law >/dev/null
	expect 3 publish "$WWW"
	err_has 'S13'
	[ ! -e "$WWW" ]
	snapshot log.key
	expect 5 publish no/such/place
	[ ! -e no ]
	expect 0 publish "$WWW"
}
