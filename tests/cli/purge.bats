#!/usr/bin/env bats
# kistore gc --purge: what was taken down goes from history, and nothing else
# does (store-layout.md X9).

load ../lib/common
load ../lib/hostile
load ../lib/history

CLONES='kistore: clones elsewhere keep what they have until they take over the '
CLONES+='rewritten history and purge'

# Eight records in as many commits; three entries are about the one in the
# middle, whose name, title and body nobody may read any more.
prepare() {
	once eight make_store s.git init s.git
	tick=11
	victim=$(<victim)
}

# make_store STORE COMMAND…: what init makes, filled.
make_store() {
	local store=$1 name
	shift
	at 0
	kistore "$@" >/dev/null
	for name in alpha beta gamma hushhush delta epsilon zeta eta; do
		at
		manifest "$name" | kistore -q -C "$store" put - >receipt
		[ "$name" != hushhush ] || cut -d' ' -f1 receipt >victim
	done
	victim=$(<victim)
	at
	echo '{"name":"hushhush","title":"a whispered title"}' |
		kistore -C "$store" annotate hushhush --metadata - >/dev/null
	at
	kistore -C "$store" retract "$victim" --reason 'cause unknown' \
		>/dev/null
}

# at [N]: the clock goes on, from N.
at() {
	tick=$((${1-tick} + 1))
	export SOURCE_DATE_EPOCH=$((1787000000 + 100 * tick))
}

take_down() {
	at
	kistore -C "${store-s.git}" takedown "$victim" --reason law "$@" \
		>/dev/null
}

victim_path() {
	local hex=${victim#sha256:}
	echo "objects/${hex:0:1}/${hex:1:2}/${hex:3}.zst"
}

# Authors, dates, messages and the shape of history.
shape() {
	git -C "$1" log --date-order --date=raw --format='%an|%ae|%ad|%cn|%ce|%cd|%e|%B'
	git -C "$1" rev-list --date-order --parents HEAD | awk '{ print NF }'
}

# All that must stay.
keep() {
	shape "$1" >shape.before
	git -C "$1" rev-parse 'HEAD^{tree}' >tree.before
	kistore -C "$1" log --root >root.before
	git -C "$1" rev-list --count HEAD >count.before
}

kept() {
	diff shape.before <(shape "$1")
	diff tree.before <(git -C "$1" rev-parse 'HEAD^{tree}')
	diff root.before <(kistore -C "$1" log --root)
	diff count.before <(git -C "$1" rev-list --count HEAD)
	try kistore -C "$1" verify
	# Tags that a test made up are no snapshots.
	! grep -v '^damage refs/tags/snapshot/' "$OUT" |
		grep '^[a-z]* [a-z]*/' || return 1
	[ -n "$(git -C "$1" tag)" ] || [ "$status" -eq 0 ]
	[ -z "$(git -C "$1" fsck --strict --no-dangling 2>&1)" ]
}

# objects_of STORE COMMIT: their digests, each of which was checked.
objects_of() {
	git -C "$1" ls-tree -r --name-only "$2" objects/ | while read -r path; do
		sum=$(git -C "$1" cat-file blob "$2:$path" | zstd -qdc | sha256sum)
		sum=${sum%% *}
		[ "objects/${sum:0:1}/${sum:1:2}/${sum:3}.zst" = "$path" ] ||
			echo "wrong: $path"
		echo "$sum"
	done
}

# Of every commit, from the oldest: what its tree has, but for the victim.
contents() {
	git -C "$1" rev-list --date-order --reverse HEAD | while read -r id; do
		objects_of "$1" "$id" | grep -vF "${victim#sha256:}" || true
		git -C "$1" ls-tree -r "$id" | grep -vE '	(log|objects)/'
		echo
	done
}

# refuses STATUS TEXT [OPTION…]: nothing is changed.
refuses() {
	local want=$1 text=$2 all
	shift 2
	keep_state s.git
	everything s.git | sha256sum >all.before
	refused "$want" kistore -C s.git gc --purge "$@"
	err_has "$text"
	unchanged s.git
	all=$(everything s.git | sha256sum)
	[ "$all" = "$(cat all.before)" ]
}

# ---- what goes, and what stays ---------------------------------------------

# bats test_tags=valgrind
@test "the object goes from every commit, and nothing else does" {
	found s.git 'Project hushhush' hushhush 'a whispered title'
	git -C s.git cat-file blob "HEAD:$(victim_path)" >frame
	blob=$(git -C s.git rev-parse "HEAD:$(victim_path)")
	take_down
	found s.git 'Project hushhush'
	contents s.git >contents.before
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 8 of 12 commits: 1 object and 0 lines are gone'
	err_is "$CLONES"
	kept s.git
	diff contents.before <(contents s.git)
	expect 1 git -C s.git cat-file -e "$blob"
	everything s.git >all
	python3 -c 'import sys
sys.exit(open("frame", "rb").read() in open("all", "rb").read())'
	texts s.git >all
	expect 1 grep -qaF 'Project hushhush' all
	# Without --lines, what the log says of it stays.
	found s.git hushhush 'a whispered title'
}

@test "with --lines, every older version of its lines has the hash alone" {
	git -C s.git show HEAD:log/000/000.jsonl >full
	take_down --lines
	keep s.git
	found s.git 'Project hushhush' hushhush 'a whispered title'
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 8 of 12 commits: 1 object and 2 lines are gone'
	kept s.git
	gone s.git 'Project hushhush' hushhush 'a whispered title'
	# Each version is a beginning of the newest one; what was said without
	# naming it stays.
	git -C s.git show HEAD:log/000/000.jsonl >newest
	for id in $(git -C s.git rev-list HEAD); do
		git -C s.git show "$id:log/000/000.jsonl" >old
		head -n "$(wc -l <old)" newest | cmp - old
	done
	[ "$(grep -c '^-' newest)" -eq 2 ]
	diff <(sed -n 5p newest) <((printf '\0'
		sed -n 5p full | tr -d '\n') | sha256sum | sed 's/^/-/; s/ .*//')
	grep -qF 'cause unknown' newest
}

@test "the commits before it keep their ids" {
	git -C s.git rev-list HEAD | tail -n 4 >before
	take_down --lines
	kistore -q -C s.git gc --purge >/dev/null
	diff before <(git -C s.git rev-list HEAD | tail -n 4)
	[ "$(git -C s.git rev-list --count HEAD)" -eq 12 ]
}

@test "a second purge changes nothing and says so" {
	take_down --lines
	kistore -q -C s.git gc --purge >/dev/null
	git -C s.git rev-parse HEAD >before
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	silent_err
	diff before <(git -C s.git rev-parse HEAD)
	everything s.git | sha256sum >objects.before
	(cd s.git && find . -type f) | sort >files.before
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	diff objects.before <(everything s.git | sha256sum)
	diff files.before <(cd s.git && find . -type f | sort)
}

@test "without a takedown it is a gc and no more" {
	git -C s.git config core.logAllRefUpdates always
	garbage=$(echo unneeded | git -C s.git hash-object -w --stdin)
	git -C s.git update-ref -m test refs/heads/main HEAD~
	git -C s.git update-ref -m test refs/heads/main 'main@{1}'
	keep s.git
	git -C s.git rev-parse HEAD >before
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	silent_err
	kept s.git
	diff before <(git -C s.git rev-parse HEAD)
	git -C s.git cat-file -e "$garbage"
	[ "$(git -C s.git reflog show main | wc -l)" -eq 2 ]
	[ "$(find s.git/objects/pack -name '*.pack' | wc -l)" -eq 1 ]
}

@test "-q prints what was done, and no notes" {
	take_down
	expect 0 kistore -q -C s.git gc --purge
	out_is 'rewrote 8 of 12 commits: 1 object and 0 lines are gone'
	silent_err
}

@test "several takedowns, of the same object and of others, go at once" {
	take_down
	take_down --lines
	for name in alpha eta; do
		at
		kistore -C s.git takedown "$name" --lines --reason law \
			>/dev/null
	done
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 14 of 15 commits: 3 objects and 4 lines are gone'
	kept s.git
	gone s.git hushhush 'a whispered title' '"alpha"' 'Project alpha' \
		'"eta"' 'Project eta'
	found s.git 'Project beta' '"beta"' 'Project delta' '"zeta"'
}

@test "a takedown after a purge is purged by the next one" {
	take_down --lines
	kistore -q -C s.git gc --purge >/dev/null
	at
	kistore -C s.git takedown beta --lines --reason law >/dev/null
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 11 of 13 commits: 1 object and 1 line are gone'
	kept s.git
	gone s.git '"beta"' 'Project beta' hushhush
}

@test "lines of a segment that is full, and a dictionary that may remember" {
	kistore -q -C s.git put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	at
	manifest theta | kistore -q -C s.git put - >/dev/null
	kistore -q -C s.git dictionary train >/dev/null
	[ "$(git -C s.git ls-tree -r --name-only HEAD log/ | wc -l)" -eq 2 ]
	take_down --lines
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 11 of 15 commits: 1 object and 2 lines are gone'
	err_has 'dictionaries stay (T16)'
	kept s.git
	texts s.git >all
	expect 1 grep -qaE 'hushhush|a whispered title' all
}

@test "the object comes and goes in history: every version of it goes" {
	path=$(victim_path)
	git -C s.git cat-file blob "HEAD:$path" | zstd -qdc >body
	zstd -q -19 --no-check -c body >again
	commit_file again "$path"
	zstd -q -1 -c body >again
	commit_file again "$path" 100755
	commit_file again "$path" 120000
	take_down
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 11 of 15 commits: 1 object and 0 lines are gone'
	kept s.git
	gone s.git 'Project hushhush'
}

# commit_file FILE PATH [MODE]
commit_file() {
	local blob tree commit
	blob=$(git -C s.git hash-object -w --stdin <"$1")
	rm -f index
	GIT_INDEX_FILE=$PWD/index git -C s.git read-tree HEAD
	GIT_INDEX_FILE=$PWD/index git -C s.git update-index --add --cacheinfo \
		"${3-100644},$blob,$2"
	tree=$(GIT_INDEX_FILE=$PWD/index git -C s.git write-tree)
	commit=$(git -C s.git commit-tree -p HEAD -m "$2" "$tree")
	git -C s.git update-ref refs/heads/main "$commit"
}

@test "what is not the store's own stays, whatever its name and mode" {
	printf '#!/bin/sh\n' >tool
	commit_file tool bin/tool 100755
	commit_file tool objects-of-mine/c/32/x
	commit_file tool log-of-mine/000/000.jsonl
	printf 'bin/tool' >target
	commit_file target link 120000
	take_down --lines
	git -C s.git ls-tree -r HEAD >before
	contents s.git >contents.before
	keep s.git
	expect 0 kistore -C s.git gc --purge
	kept s.git
	diff before <(git -C s.git ls-tree -r HEAD)
	diff contents.before <(contents s.git)
}

# ---- the shape of history --------------------------------------------------

# From here on the newest tree is what it was.
commit_on() {
	local message=$1 parent parents=()
	shift
	for parent; do
		parents+=(-p "$parent")
	done
	at
	GIT_AUTHOR_DATE="$SOURCE_DATE_EPOCH +0200" \
		GIT_COMMITTER_DATE="$SOURCE_DATE_EPOCH -0330" \
		git -C s.git commit-tree "${parents[@]}" -m "$message" "$1^{tree}"
}

@test "merges keep their shape: all parents are rewritten, each once" {
	take_down --lines
	clean=$(commit_on clean HEAD~9)
	left=$(commit_on left HEAD~3)
	right=$(commit_on right HEAD~3)
	both=$(commit_on both "$right" "$left")
	merge=$(commit_on merge HEAD "$both" "$clean" HEAD~5)
	again=$(commit_on again "$merge" HEAD "$left")
	git -C s.git update-ref refs/heads/main "$again"
	keep s.git
	git -C s.git log --graph --format=%s >graph.before
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 13 of 18 commits: 1 object and 2 lines are gone'
	kept s.git
	diff graph.before <(git -C s.git log --graph --format=%s)
	gone s.git hushhush 'a whispered title'
	[ "$(git -C s.git rev-parse 'HEAD~^3')" = "$clean" ]
	[ "$(git -C s.git rev-parse 'HEAD^3')" = \
		"$(git -C s.git rev-parse 'HEAD~^2^2')" ]
	[ "$(git -C s.git rev-parse 'HEAD~^4')" = \
		"$(git -C s.git rev-parse 'HEAD^2~5')" ]
}

@test "a root beside the first one, with the same object, is rewritten, too" {
	tree=$(git -C s.git rev-parse 'HEAD^{tree}')
	root=$(git -C s.git commit-tree -m 'another root' "$tree")
	merge=$(git -C s.git commit-tree -p HEAD -p "$root" -m merge "$tree")
	git -C s.git update-ref refs/heads/main "$merge"
	take_down --lines
	keep s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 10 of 14 commits: 1 object and 2 lines are gone'
	kept s.git
	gone s.git hushhush
}

# raw_commit PARENT HEADERS: a commit with more headers than git writes.
raw_commit() {
	{
		printf 'tree %s\n' "$(git -C s.git rev-parse "$1^{tree}")"
		printf 'parent %s\n' "$(git -C s.git rev-parse "$1")"
		printf 'author J\xf6rg <j@example.org> 1787009000 +0545\n'
		printf 'committer C  M <> 1787009999 -1200\n'
		printf '%b' "$2"
		printf '\nJ\xf6rg says\n\n tree of life\nparent without end'
	} >text
	git -C s.git hash-object -t commit -w --stdin <text
}

SIGNATURE='gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n'

@test "author, committer, encoding, other headers and message stay to the byte" {
	id=$(raw_commit HEAD 'encoding ISO-8859-1\nx-more one\n two\n')
	git -C s.git update-ref refs/heads/main "$id"
	take_down
	git -C s.git cat-file commit "$id" | sed 1,2d >before
	kistore -q -C s.git gc --purge >/dev/null
	git -C s.git cat-file commit HEAD~ | sed 1,2d | cmp - before
	[ "$(git -C s.git rev-parse HEAD~)" != "$id" ]
}

@test "a signature goes with the commit that it was made for, and that is said" {
	early=$(git -C s.git rev-parse HEAD~9)
	signed=$(raw_commit "$early" "encoding ISO-8859-1\n$SIGNATURE")
	merge=$(commit_on merge HEAD "$signed")
	late=$(raw_commit "$merge" \
		"${SIGNATURE}gpgsig-sha256 x\n y\nencoding ISO-8859-1\n")
	git -C s.git update-ref refs/heads/main "$late"
	take_down
	git -C s.git cat-file commit "$late" | sed '1,2d; /^gpgsig/d; /^ [-yi]/d; /^ $/d' \
		>before
	expect 0 kistore -C s.git gc --purge
	err_has 'dropped 2 signatures in commits'
	git -C s.git cat-file commit HEAD~ | sed 1,2d | cmp - before
	# The one that nothing changed has its signature still.
	[ "$(git -C s.git rev-parse 'HEAD~2^2')" = "$signed" ]
	git -C s.git cat-file commit "$signed" | grep -q '^gpgsig '
}

@test "the tag of a merge stays where what it names does" {
	tag() {
		printf 'mergetag object %s\\n type commit\\n tag %s\\n' "$1" "$2"
		printf ' tagger T <t@example.org> 1787000000 +0000\\n \\n text\\n'
	}
	early=$(git -C s.git rev-parse HEAD~9)
	late=$(git -C s.git rev-parse HEAD~2)
	id=$(raw_commit HEAD "$(tag "$early" early)$(tag "$late" late)")
	git -C s.git update-ref refs/heads/main "$id"
	take_down
	expect 0 kistore -C s.git gc --purge
	err_has 'dropped 1 signature in commits'
	git -C s.git cat-file commit HEAD~ >after
	grep -qx "mergetag object $early" after
	grep -qx ' tag early' after
	expect 1 grep -q "$late\| tag late" after
}

# ---- work trees ------------------------------------------------------------

@test "in a work tree, files and git's index stay as they are" {
	make_store tree init --worktree tree
	store=tree take_down --lines
	keep tree
	find tree -path tree/.git -prune -o -type f -printf '%P %s %T@\n' |
		sort >files.before
	git -C tree ls-files --stage >index.before
	expect 0 kistore -C tree gc --purge
	out_is 'rewrote 8 of 12 commits: 1 object and 2 lines are gone'
	kept tree
	diff files.before <(find tree -path tree/.git -prune -o -type f \
		-printf '%P %s %T@\n' | sort)
	diff index.before <(git -C tree ls-files --stage)
	[ -z "$(git -C tree status --porcelain)" ]
	gone tree hushhush 'a whispered title'
	at
	manifest theta | kistore -q -C tree put - >/dev/null
	[ -z "$(git -C tree status --porcelain)" ]
}

@test "in a clone with reflogs, nothing leads back through them" {
	git clone -q s.git clone
	git -C clone remote remove origin
	git -C clone switch -q -c side HEAD~2
	git -C clone switch -q main
	git -C clone branch -q -D side
	git -C clone reset -q --hard HEAD~1
	git -C clone reset -q --hard '@{1}'
	store=clone take_down --lines
	[ -n "$(git -C clone reflog)" ]
	keep clone
	expect 0 kistore -C clone gc --purge
	kept clone
	[ -z "$(git -C clone reflog show --all)" ]
	gone clone hushhush 'a whispered title'
	[ -z "$(git -C clone status --porcelain)" ]
}

@test "changes in a work tree at what is to go are refused" {
	make_store tree init --worktree tree
	cp "tree/$(victim_path)" frame
	store=tree take_down --lines
	keep_state tree
	mkdir -p "tree/$(dirname "$(victim_path)")"
	cp frame "tree/$(victim_path)"
	refused 5 kistore -C tree gc --purge
	err_has "$(victim_path): is in the way in the work tree"
	git -C tree add -f "$(victim_path)"
	refused 5 kistore -C tree gc --purge
	err_has "$(victim_path): is changed in git's index"
	git -C tree rm -q -f "$(victim_path)"
	echo hushhush >>tree/log/000/000.jsonl
	refused 5 kistore -C tree gc --purge
	err_has 'log/000/000.jsonl: is modified in the work tree'
	git -C tree checkout -q log
	echo mine >tree/mine
	expect 0 kistore -C tree gc --purge
	[ "$(git -C tree status --porcelain)" = '?? mine' ]
	gone tree hushhush
}

# ---- other references ------------------------------------------------------

@test "a branch that leads to what is to go is refused and named" {
	git -C s.git branch other HEAD~3
	take_down
	refuses 5 'refs/heads/other'
	err_has '(X9)'
	git -C s.git branch -q -D other
	expect 0 kistore -C s.git gc --purge
	gone s.git 'Project hushhush'
}

@test "so are tags of all sorts, notes, the stash, and what holds a tree" {
	take_down
	git -C s.git tag light HEAD~2
	git -C s.git tag -a -m x annotated HEAD~2
	git -C s.git tag -a -m x twice annotated
	git -C s.git tag snapshot/x HEAD~2
	git -C s.git tag snapshot/12/x HEAD~2
	git -C s.git tag tree 'HEAD~2^{tree}'
	git -C s.git tag blob "HEAD~2:$(victim_path)"
	git -C s.git update-ref refs/stash HEAD~2
	git -C s.git update-ref refs/original/main HEAD~2
	for ref in $(git -C s.git for-each-ref --format='%(refname)' |
		grep -v heads/main); do
		git -C s.git for-each-ref --format='create %(refname) %(objectname)' \
			>refs
		grep -v "heads/main\|create $ref " refs | sed 's/^create/delete/' |
			git -C s.git update-ref --stdin
		refuses 5 "first: $ref"
		git -C s.git update-ref -d "$ref"
		grep -v heads/main refs | git -C s.git update-ref --stdin
	done
	refuses 5 'refs/original/main, refs/stash, refs/tags/annotated'
}

@test "packed references count as well" {
	git -C s.git branch other HEAD~3
	take_down
	git -C s.git pack-refs --all
	refuses 5 'refs/heads/other'
}

@test "a detached HEAD in another work tree counts as well" {
	git -C s.git worktree add -q --detach "$PWD/aside" HEAD~2
	take_down
	refuses 5 'worktrees/aside/HEAD'
	git -C s.git worktree remove aside
	expect 0 kistore -C s.git gc --purge
	gone s.git 'Project hushhush'
}

@test "references that lead to nothing that goes stay as they are" {
	early=$(git -C s.git rev-parse HEAD~8)
	git -C s.git branch early "$early"
	git -C s.git tag -a -m x snapshot/3 "$early"
	git -C s.git tag blob HEAD:store.json
	git -C s.git symbolic-ref refs/heads/alias refs/heads/main
	other=$(git -C s.git commit-tree -m other \
		"$(git -C s.git rev-parse "$early^{tree}")")
	git -C s.git update-ref refs/notes/commits "$other"
	take_down
	git -C s.git for-each-ref >before
	expect 0 kistore -C s.git gc --purge
	out_is 'rewrote 8 of 12 commits: 1 object and 0 lines are gone'
	diff <(grep -v 'heads/main\|heads/alias' before) \
		<(git -C s.git for-each-ref | grep -v 'heads/main\|heads/alias')
	[ "$(git -C s.git rev-parse alias)" = "$(git -C s.git rev-parse main)" ]
	gone s.git 'Project hushhush'
}

@test "tags of snapshots that name rewritten commits are dropped and listed" {
	git -C s.git tag -a -m x snapshot/3 HEAD~8
	git -C s.git tag -a -m x snapshot/7 HEAD~4
	git -C s.git tag snapshot/9 HEAD~2
	git -C s.git pack-refs --all
	git -C s.git tag -a -m x snapshot/10 HEAD~1
	take_down
	# Not verify: none of these is a snapshot's.
	expect 0 kistore -C s.git gc --purge
	cat >want <<-END
	rewrote 8 of 12 commits: 1 object and 0 lines are gone
	dropped 3 tags: snapshot/10, snapshot/7, snapshot/9
	END
	diff want "$OUT"
	[ "$(git -C s.git tag)" = snapshot/3 ]
	gone s.git 'Project hushhush'
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
}

@test "remote-tracking references are noted, and what they hold is counted" {
	git clone -q --bare s.git clone.git
	git -C clone.git remote add up "$PWD/s.git"
	git -C clone.git fetch -q up '+refs/heads/*:refs/remotes/up/*'
	store=clone.git take_down --lines
	keep clone.git
	expect 0 kistore -C clone.git gc --purge
	err_has 'still held by remote-tracking references'
	err_has 'refs/remotes/up/main'
	grep -qx 'still in the repository: 8 git objects with removed bytes' "$OUT"
	kept clone.git
	found clone.git hushhush
	expect 0 kistore -C clone.git gc --purge
	grep -qx 'nothing to purge' "$OUT"
	grep -q '^still in the repository: 8 git objects' "$OUT"
	err_has 'refs/remotes/up/main'
	# As the note says: push, fetch, purge again.
	git -C clone.git push -q --force up main
	git -C clone.git fetch -q up '+refs/heads/*:refs/remotes/up/*'
	expect 0 kistore -C clone.git gc --purge
	out_is 'nothing to purge'
	silent_err
	gone clone.git hushhush 'a whispered title'
	kept clone.git
}

@test "another history elsewhere need not be of this log" {
	{ git -C s.git show HEAD:log/000/000.jsonl | sed 5s/hush/HUSH/g; } >other
	keep_head=$(git -C s.git rev-parse HEAD)
	commit_file other log/000/000.jsonl
	git -C s.git update-ref refs/remotes/up/main HEAD
	git -C s.git update-ref refs/heads/main "$keep_head"
	take_down --lines
	expect 0 kistore -C s.git gc --purge
	grep -q '^rewrote 8 of 12 commits' "$OUT"
	err_has 'refs/remotes/up/main'
	expect 0 kistore -C s.git verify
}

# ---- what git leaves -------------------------------------------------------

@test "packs that somebody keeps, and alternates, are noted" {
	git -C s.git repack -a -d -q
	pack=$(find s.git/objects/pack -name '*.pack')
	echo mine >"${pack%.pack}.keep"
	name=objects/pack/$(basename "${pack%.pack}.keep")
	take_down --lines
	keep s.git
	expect 0 kistore -C s.git gc --purge
	grep -q '^still in the repository: [1-9]' "$OUT"
	err_has "$name: git leaves"
	kept s.git
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	err_has "$name: git leaves"
	rm "${pack%.pack}.keep"
	expect 0 kistore -C s.git gc --purge
	silent_err
	gone s.git hushhush
}

@test "what another repository lends is noted and not touched" {
	git clone -q --bare --shared s.git borrower.git
	git -C borrower.git remote remove origin
	store=borrower.git take_down --lines
	everything s.git | sha256sum >before
	expect 0 kistore -C borrower.git gc --purge
	grep -q '^rewrote 8 of 12 commits' "$OUT"
	grep -q '^still in the repository: 8 git objects' "$OUT"
	err_has 'objects/info/alternates: git leaves'
	[ "$(everything s.git | sha256sum)" = "$(cat before)" ]
	expect 0 kistore -C borrower.git verify
}

@test "the index of another work tree that keeps something is noted" {
	blob=$(git -C s.git rev-parse "HEAD:$(victim_path)")
	git -C s.git worktree add -q -b aside "$PWD/aside" HEAD~8
	git -C aside update-index --add --cacheinfo "100644,$blob,mine"
	take_down
	expect 0 kistore -C s.git gc --purge
	grep -qx 'still in the repository: 1 git object with removed bytes' \
		"$OUT"
	err_has 'the index of another work tree'
	git -C aside reset -q --hard
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	gone s.git 'Project hushhush'
}

@test "no setting of git and no hook keeps or does anything" {
	take_down --lines
	git -C s.git config gc.bigPackThreshold 1
	git -C s.git config gc.cruftPacks true
	git -C s.git config gc.pruneExpire never
	git -C s.git config gc.reflogExpire never
	git -C s.git config gc.reflogExpireUnreachable never
	git -C s.git config core.logAllRefUpdates always
	git -C s.git update-ref -m test refs/heads/main HEAD~
	git -C s.git update-ref -m test refs/heads/main 'main@{1}'
	git -C s.git tag snapshot/7 HEAD~4
	mkdir -p s.git/hooks
	for hook in pre-auto-gc reference-transaction post-rewrite; do
		printf '#!/bin/sh\ntouch %s\nexit 1\n' "$PWD/ran" >s.git/hooks/$hook
		chmod +x s.git/hooks/$hook
	done
	expect 0 kistore -C s.git gc --purge
	[ ! -e ran ]
	rm -r s.git/hooks
	gone s.git hushhush 'a whispered title'
}

@test "garbage goes, too: what an earlier purge left behind when it was killed" {
	unneeded=$(git -C s.git rev-parse HEAD~2)
	take_down --lines
	cp -a s.git before.git
	kistore -q -C s.git gc --purge >/dev/null
	expect 1 git -C s.git cat-file -e "$unneeded"
	# As if it had been: a pack and loose objects that nothing leads to.
	git -C before.git repack -a -d -q
	cp before.git/objects/pack/*.pack before.git/objects/pack/*.idx \
		s.git/objects/pack
	manifest hushhush | git -C s.git hash-object -w --stdin >id
	found s.git hushhush 'Project hushhush'
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	expect 1 git -C s.git cat-file -e "$(cat id)"
	gone s.git hushhush 'Project hushhush'
}

# ---- what is refused -------------------------------------------------------

@test "a git gc that was killed, whose number another process has, is passed over" {
	take_down --lines
	printf '%s %s' "$$" "$(uname -n)" >s.git/gc.pid
	# What it was writing may have what is to go.
	cp s.git/objects/pack/*.pack s.git/objects/pack/.tmp-1-pack-a.pack ||
		everything s.git >s.git/objects/pack/.tmp-1-pack-a.pack
	expect 0 kistore -C s.git gc --purge
	[ ! -e s.git/objects/pack/.tmp-1-pack-a.pack ]
	gone s.git hushhush 'Project hushhush'
}

@test "an older line that is not the redacted one stops it" {
	git -C s.git show HEAD~3:log/000/000.jsonl >good
	sed '5s/hushhush/hush.ush/' good >bad
	head=$(git -C s.git rev-parse HEAD)
	git -C s.git update-ref refs/heads/main HEAD~3
	commit_file bad log/000/000.jsonl
	bad=$(git -C s.git rev-parse --short=12 HEAD)
	merge=$(commit_on merge "$head" HEAD)
	git -C s.git update-ref refs/heads/main "$merge"
	take_down --lines
	refuses 1 "commit $bad: log/000/000.jsonl: entry 4 is not the line"
	found s.git hushhush
	expect 0 kistore -C s.git verify
}

@test "a line that is cut off in the middle stops it" {
	head=$(git -C s.git rev-parse HEAD)
	git -C s.git update-ref refs/heads/main HEAD~3
	git -C s.git show HEAD:log/000/000.jsonl | head -n 5 | head -c -10 >bad
	commit_file bad log/000/000.jsonl
	merge=$(commit_on merge "$head" HEAD)
	git -C s.git update-ref refs/heads/main "$merge"
	take_down --lines
	refuses 1 'entry 4 is not the line that was redacted'
}

@test "a whole line without its LF is redacted, and stays without" {
	head=$(git -C s.git rev-parse HEAD)
	git -C s.git update-ref refs/heads/main HEAD~3
	git -C s.git show HEAD:log/000/000.jsonl | head -n 5 | head -c -1 >bad
	commit_file bad log/000/000.jsonl
	merge=$(commit_on merge "$head" HEAD)
	git -C s.git update-ref refs/heads/main "$merge"
	take_down --lines
	expect 0 kistore -C s.git gc --purge
	gone s.git hushhush
	git -C s.git show 'HEAD~^2:log/000/000.jsonl' >after
	[ "$(wc -l <after)" -eq 4 ]
	tail -n 1 after | grep -Eqx -- '-[0-9a-f]{64}'
}

@test "a redacted line of another hash, in an older version, stops it" {
	head=$(git -C s.git rev-parse HEAD)
	git -C s.git update-ref refs/heads/main HEAD~3
	git -C s.git show HEAD:log/000/000.jsonl |
		sed "5s/.*/-$(printf '%064d' 7)/" >bad
	commit_file bad log/000/000.jsonl
	merge=$(commit_on merge "$head" HEAD)
	git -C s.git update-ref refs/heads/main "$merge"
	take_down --lines
	refuses 1 'entry 4 is not the line that was redacted'
}

@test "a log with a fault keeps its history" {
	take_down --lines
	git -C s.git show HEAD:log/000/000.jsonl >log
	# A redacted line that no takedown names: here history has the text.
	sed "3s/.*/-$(sed -n 3p log | { printf '\0'; tr -d '\n'; } |
		sha256sum | cut -c1-64)/" log >bad
	commit_file bad log/000/000.jsonl
	refuses 1 'the log has 1 fault, and its history may be needed'
	found s.git beta hushhush
}

@test "a takedown with a fault takes nothing" {
	kistore -C s.git takedown beta --reason law >/dev/null
	{
		git -C s.git show HEAD:log/000/000.jsonl
		printf '{"at":"2026-01-01T00:00:00Z","digest":"%s",' "$victim"
		printf '"op":"takedown","reason":"older than what is before"}\n'
	} >bad
	commit_file bad log/000/000.jsonl
	refuses 1 'the log has 1 fault'
	found s.git 'Project hushhush' 'Project beta'
}

@test "a log that needs a newer version is not purged" {
	take_down --lines
	{
		git -C s.git show HEAD:log/000/000.jsonl
		echo '{"at":"2027-08-17T20:53:20Z","op":"sing"}'
	} >new
	commit_file new log/000/000.jsonl
	refuses 8 '1 entry of the log needs a newer kistore'
}

@test "once something was signed, a takedown that is not signed is not purged" {
	take_down --lines
	echo 'no note at all' >note
	commit_file note checkpoint
	keep_head=$(git -C s.git rev-parse HEAD)
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	[ "$(wc -l <"$ERR")" -eq 1 ]
	err_has 'kistore: 1 takedown is not signed yet: the next snapshot'
	[ "$(git -C s.git rev-parse HEAD)" = "$keep_head" ]
	found s.git hushhush 'Project hushhush' 'a whispered title'
}

@test "what was taken down and is here still stays in history, too" {
	git -C s.git cat-file blob "HEAD:$(victim_path)" >frame
	take_down
	commit_file frame "$(victim_path)"
	keep_head=$(git -C s.git rev-parse HEAD)
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	err_has "$victim was taken down and is still here"
	[ "$(git -C s.git rev-parse HEAD)" = "$keep_head" ]
}

@test "shallow and partial clones are refused, and what to do is said" {
	take_down
	git clone -q --bare --depth 3 "file://$PWD/s.git" shallow.git
	refused 8 kistore -C shallow.git gc --purge
	err_has 'git fetch --unshallow'
	git -C s.git config uploadpack.allowFilter true
	git clone -q --bare --filter=blob:limit=1m "file://$PWD/s.git" partial.git
	refused 8 kistore -C partial.git gc --purge
	err_has 'a partial clone cannot be purged'
	git -C shallow.git fetch -q --unshallow
	git -C shallow.git remote remove origin
	expect 0 kistore -C shallow.git gc --purge
	gone shallow.git 'Project hushhush'
}

@test "where git removes nothing, nothing is purged" {
	take_down
	git -C s.git config core.repositoryFormatVersion 1
	git -C s.git config extensions.preciousObjects true
	refuses 8 'extensions.preciousObjects'
}

@test "a detached HEAD has no branch to rewrite" {
	take_down
	git -C s.git update-ref --no-deref HEAD HEAD~0
	head=$(git -C s.git rev-parse HEAD)
	git -C s.git branch -q -D main 2>/dev/null || true
	echo "$head" >s.git/HEAD
	refuses 5 'HEAD is detached'
}

@test "locks of others are waited for and respected" {
	need_command flock
	take_down
	keep_state s.git
	refused 5 flock s.git/kistore.lock "$KISTORE" -C s.git gc --purge \
		--wait 0
	unchanged s.git
	touch s.git/refs/heads/main.lock
	refuses 5 'main.lock: lock of another git process'
	rm s.git/refs/heads/main.lock
	expect 0 kistore -C s.git gc --purge
}

@test "a damaged git object in history is not copied as if it were sound" {
	take_down
	tree=$(git -C s.git rev-parse 'HEAD~2^{tree}')
	git -C s.git cat-file tree "$tree" | sed 's/README/README/' >bytes
	git -C s.git repack -a -d -q
	mv s.git/objects/pack/*.pack .
	rm -f s.git/objects/pack/*
	for pack in *.pack; do git -C s.git unpack-objects -q <"$pack"; done
	# Another tree under its name.
	other=$(git -C s.git rev-parse 'HEAD~3^{tree}')
	chmod -R u+w s.git/objects
	cp "s.git/objects/${other:0:2}/${other:2}" \
		"s.git/objects/${tree:0:2}/${tree:2}"
	keep_state s.git
	refused 1 kistore -C s.git gc --purge
	err_has "git tree $tree: its bytes have another SHA-1"
	unchanged s.git
}

@test "without git, history is rewritten and the rest is told to be missing" {
	take_down --lines
	head=$(git -C s.git rev-parse HEAD)
	mkdir empty
	try env PATH="$PWD/empty" "$KISTORE" -C s.git gc --purge
	[ "$status" -eq 5 ]
	err_has 'kistore gc --purge goes on'
	err_has 'cannot run git'
	[ "$(git -C s.git rev-parse HEAD)" != "$head" ]
	expect 0 kistore -C s.git verify
	expect 0 kistore -C s.git gc --purge
	out_is 'nothing to purge'
	gone s.git hushhush
}

# ---- death -----------------------------------------------------------------

# sound STORE: the old state or the new one; then a purge completes it.
sound() {
	kept "$1"
	state=old
	[ "$(git -C "$1" rev-parse HEAD)" = "$old" ] || {
		state=new
		[ "$(git -C "$1" rev-parse HEAD)" = "$new" ]
	}
	expect 0 kistore -C "$1" gc --purge
	[ "$(git -C "$1" rev-parse HEAD)" = "$new" ]
	[ "$(git -C "$1" tag)" = snapshot/3 ]
	diff ids.purged <(ids "$1")
	leftovers "$1" >left
	cat left
	[ ! -s left ]
}

ids() {
	git -C "$1" cat-file --batch-all-objects --batch-check='%(objectname)'
}

# base STORE: get it ready, and see what a purge makes of it.
base() {
	local made=$1
	git -C "$made" tag snapshot/3 HEAD~7
	git -C "$made" tag snapshot/7 HEAD~3
	store=$made take_down --lines
	keep "$made"
	old=$(git -C "$made" rev-parse HEAD)
	rm -rf purged
	cp -a "$made" purged
	kistore -q -C purged gc --purge >/dev/null
	new=$(git -C purged rev-parse HEAD)
	gone purged hushhush 'a whispered title'
	ids purged >ids.purged
}

# bats test_tags=long
@test "killed at random moments: the old state or the new, and then it goes on" {
	base s.git
	cp -a s.git copy
	start=$(date +%s%N)
	"$KISTORE" -q -C copy gc --purge >out
	time=$((($(date +%s%N) - start) / 1000000))
	for n in $(seq 20); do
		rm -rf copy
		cp -a s.git copy
		(
			"$KISTORE" -C copy gc --purge >out 2>err 3>&- &
			ms=$((n * n * time / 441))
			sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
			kill -9 $!
			wait $!
		) 2>/dev/null || true
		sound copy
		echo "$state" >>states
	done
	sort states | uniq -c
}

# killed_everywhere STORE: before each rename, link and unlink.
killed_everywhere() {
	local call n count=0 olds=0
	for call in rename renameat renameat2 link linkat unlink unlinkat rmdir; do
		n=1
		while :; do
			rm -rf copy
			cp -a "$1" copy
			dies_at "$call" "$n" "$KISTORE" -C copy gc --purge || break
			sound copy
			[ "$state" = new ] || olds=$((olds + 1))
			n=$((n + 1))
			count=$((count + 1))
		done
	done
	echo "$count deaths, after $olds of them the old state"
	[ "$count" -ge 8 ]
	[ "$olds" -ge 4 ]
	[ "$olds" -lt "$count" ]
}

# bats test_tags=long
@test "killed before each rename, link and unlink: the old state or the new" {
	need_strace
	base s.git
	killed_everywhere s.git
}

# bats test_tags=long
@test "the same in a work tree, which stays clean" {
	need_strace
	make_store tree init --worktree tree
	base tree
	killed_everywhere tree
	[ -z "$(git -C copy status --porcelain)" ]
}

@test "git that outlives a killed kistore holds the store's lock until it is done" {
	need_command flock
	take_down
	real=$(command -v git)
	mkdir bin
	cat >bin/git <<-END
	#!/bin/sh
	case "\$*" in
	*prune=now*) touch "$PWD/started"; sleep 2 ;;
	esac
	"$real" "\$@"
	touch "$PWD/finished"
	END
	chmod +x bin/git
	PATH=$PWD/bin:$PATH "$KISTORE" -C s.git gc --purge >out 2>err 3>&- &
	pid=$!
	until [ -e started ]; do sleep 0.05; done
	rm -f finished
	kill -9 "$pid"
	wait "$pid" || true
	expect 1 flock -n s.git/kistore.lock true
	at
	manifest theta | kistore -q -C s.git put - >/dev/null
	[ -e finished ]
	expect 0 kistore -C s.git verify
}
