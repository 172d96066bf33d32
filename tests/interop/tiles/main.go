// Tiles judges what a directory serves with an implementation that is not
// kistore's: golang.org/x/mod/sumdb, as Debian has it.
//
//	tiles DIR VKEY [SIZE...]
//
// It opens the checkpoint by the key, lets tlog read tiles, proves every entry
// in the tree and, for each SIZE, that the tree begins with that of this size,
// and compares entries with their leaf hashes. An entry of 65 bytes that begins
// with '-' was taken down: it names its hash (store-layout.md W5).
package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Paths of the sumdb differ from those of C2SP tlog-tiles in this alone.
func c2sp(t tlog.Tile) string {
	return "tile/" + strings.TrimPrefix(t.Path(), "tile/8/")
}

type tiles struct{ dir string }

func (t tiles) Height() int { return 8 }

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (t tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range list {
		data, err := os.ReadFile(filepath.Join(t.dir, c2sp(tile)))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open(dir, vkey string) tlog.Tree {
	verifier, err := note.NewVerifier(vkey)
	check(err)
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	check(err)
	n, err := note.Open(text, note.VerifierList(verifier))
	check(err)
	lines := strings.Split(n.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		log.Fatal("not a checkpoint of ", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := base64.StdEncoding.DecodeString(lines[2])
	check(err)
	tree := tlog.Tree{N: size}
	if copy(tree.Hash[:], root) != len(tree.Hash) {
		log.Fatal("a root of another length")
	}
	return tree
}

// The leaf hashes that the entry bundles give.
func leaves(dir string, size int64) (hashes []tlog.Hash, gone int) {
	for n := int64(0); n*256 < size; n++ {
		width := 256
		if size-n*256 < 256 {
			width = int(size - n*256)
		}
		path := tlog.Tile{H: 8, L: -1, N: n, W: width}.Path()
		path = "tile/entries/" + strings.TrimPrefix(path, "tile/8/data/")
		data, err := os.ReadFile(filepath.Join(dir, path))
		check(err)
		for i := 0; i < width; i++ {
			if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
				log.Fatal(path, " ends early")
			}
			end := 2 + int(binary.BigEndian.Uint16(data))
			entry := data[2:end]
			data = data[end:]
			hash := tlog.RecordHash(entry)
			if len(entry) == 65 && entry[0] == '-' {
				_, err := hex.Decode(hash[:], entry[1:])
				check(err)
				gone++
			}
			hashes = append(hashes, hash)
		}
		if len(data) > 0 {
			log.Fatal(path, " has more")
		}
	}
	return hashes, gone
}

func main() {
	log.SetFlags(0)
	dir := os.Args[1]
	tree := open(dir, os.Args[2])
	// Every tile that it reads, this authenticates by the root.
	reader := tlog.TileHashReader(tree, tiles{dir})
	root, err := tlog.TreeHash(tree.N, reader)
	check(err)
	if root != tree.Hash {
		log.Fatal("another root")
	}
	hashes, gone := leaves(dir, tree.N)
	for i, hash := range hashes {
		proof, err := tlog.ProveRecord(tree.N, int64(i), reader)
		check(err)
		check(tlog.CheckRecord(proof, tree.N, tree.Hash, int64(i), hash))
	}
	for _, text := range os.Args[3:] {
		size, err := strconv.ParseInt(text, 10, 64)
		check(err)
		old, err := tlog.TreeHash(size, reader)
		check(err)
		proof, err := tlog.ProveTree(tree.N, size, reader)
		check(err)
		check(tlog.CheckTree(proof, tree.N, tree.Hash, size, old))
	}
	fmt.Println(tree.N, "entries proven,", gone, "taken down")
}
