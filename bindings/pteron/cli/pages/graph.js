// Draws a method's graph by module: boxes of instructions within boxes of modules that fold, from top to bottom.
// `data` is pages/graph.py's. Everything of a model is put in as text, never as markup.

function drawGraph(place, data) {
  const GAP = 12, LANE = 9, BETWEEN = 24, PAD = 12, HEAD = 26, LEAF = 38, MOST = place.clientWidth < 600 ? 12 : 40
  const svg = place.querySelector('svg'), pen = document.createElement('canvas').getContext('2d')
  pen.font = '600 13px system-ui, sans-serif'

  // --- the tree: modules, and instructions, inputs and outputs as leaves; `first` orders them ---

  const root = {key: '', name: '', parts: [], open: true}, leaves = new Map(), at = new Map([['', root]])
  const add = (box, leaf) => { leaf.up = box; box.parts.push(leaf); leaves.set(leaf.key, leaf) }
  const box = path => {
    if (at.has(path)) return at.get(path)
    const cut = path.lastIndexOf('.'), up = box(path.slice(0, Math.max(cut, 0)))
    const made = {key: 'm:' + path, name: path.slice(cut + 1), parts: [], open: false, up}
    up.parts.push(made)
    at.set(path, made)
    return made
  }
  const key = maker => (typeof maker == 'number' ? 'i:' : 'n:') + maker
  for (const name of data.inputs) add(root, {key: 'n:' + name, name, about: 'input', reads: [], port: true})
  data.instrs.forEach(([name, about, path, title, bytes, reads], i) =>
    add(box(path), {key: 'i:' + i, name, about, title, bytes, reads: reads.map(key), link: i}))
  for (const name of [...data.states].reverse()) { // a state lies in the innermost box of all that read it
    const state = {key: 'n:' + name, name, about: 'state', reads: [], port: true}, home = common(state.key)
    leaves.set(state.key, state)
    state.up = home
    home.parts.unshift(state)
  }
  data.outputs.forEach(([name, makers], i) => add(root, {key: 'o:' + i, name, about: 'output', reads: makers.map(key), port: true}))
  function common(key) {
    const around = leaf => { const up = []; for (let b = leaf.up; b; b = b.up) up.unshift(b); return up }
    const ways = [...leaves.values()].filter(l => l.reads.includes(key)).map(around)
    let home = root
    for (let d = 0; ways.length && ways.every(w => w[d] && w[d] === ways[0][d]); d++) home = ways[0][d]
    return home
  }
  const settle = node => { // a module that holds one thing alone is one with it; what a module holds is summed up
    if (!node.parts) return [node.port ? 0 : 1, node.bytes || 0]
    while (node !== root && node.parts.length == 1 && node.parts[0].parts) {
      const only = node.parts[0]
      node.name += '.' + only.name
      node.parts = only.parts
      node.parts.forEach(p => { p.up = node })
    }
    if (node !== root && node.parts.length == 1) {
      const [leaf] = node.parts
      leaf.name = `${node.name}: ${leaf.name}`
      leaf.up = node.up
      node.up.parts[node.up.parts.indexOf(node)] = leaf
      return settle(leaf)
    }
    const sums = [...node.parts].map(settle)
    node.count = sums.reduce((a, s) => a + s[0], 0)
    node.bytes = sums.reduce((a, s) => a + s[1], 0)
    node.about = `${node.count} instruction${node.count == 1 ? '' : 's'}, ${size(node.bytes)}`
    return [node.count, node.bytes]
  }
  settle(root)
  const every = []
  const list = node => { for (const p of node.parts || []) { if (p.parts) every.push(p); list(p) } }
  list(root)
  // Unfolded level by level, as long as there is no more than one looks at.
  for (let seen = root.parts.length, level = root.parts.filter(p => p.parts); level.length;) {
    seen += level.reduce((sum, p) => sum + p.parts.length - 1, 0)
    if (seen > MOST) break
    for (const p of level) p.open = true
    level = level.flatMap(p => p.parts.filter(q => q.parts))
  }

  // --- the flows that are seen now: source -> readers, both the innermost boxes in sight ---

  const shown = leaf => { let top = leaf; for (let b = leaf.up; b !== root; b = b.up) if (!b.open) top = b; return top }
  const flows = () => {
    const made = new Map()
    for (const leaf of leaves.values()) for (const r of leaf.reads) {
      const from = leaves.has(r) && shown(leaves.get(r)), to = shown(leaf)
      if (from && from !== to) made.set(from, (made.get(from) || new Set()).add(to))
    }
    return made
  }
  const within = (node, inner) => { while (inner && inner.up !== node) inner = inner.up; return inner } // its part that holds `inner`

  // --- layout, from inside out: parts in rows by what they read; a value that passes a row has a lane there ---

  function arrange(node, all) {
    for (const p of node.parts) if (p.open) arrange(p, all)
      else [p.w, p.h] = [Math.min(Math.max(width(p.name), width(p.about) * .82) + 24, 250), LEAF]
    const local = []
    for (const [from, readers] of all) {
      const source = within(node, from), to = new Set(), inside = source || node === root
      let leaves = false
      for (const r of readers) {
        const part = within(node, r)
        if (!part) leaves = leaves || !!source
        else if (part !== source) to.add(part)
      }
      if (to.size || (leaves && inside)) local.push({from, source, to: [...to], leaves})
    }
    const place = new Map(node.parts.map((p, i) => [p, i]))
    for (const p of node.parts) p.row = 0
    const before = local.flatMap(f => f.source ? f.to.map(t => [f.source, t]) : []).filter(([a, b]) => place.get(a) < place.get(b))
    before.sort((a, b) => place.get(a[1]) - place.get(b[1]) || place.get(a[0]) - place.get(b[0]))
    for (const [a, b] of before) b.row = Math.max(b.row, a.row + 1)
    for (const p of [...node.parts].reverse()) { // what reads nothing here stands above its first reader
      const readers = before.filter(([a]) => a === p).map(([, b]) => b.row)
      if (readers.length && !before.some(([, b]) => b === p)) p.row = Math.min(...readers) - 1
    }
    const outputs = node.parts.filter(p => p.port && p.about == 'output')
    for (const p of outputs) p.row = Math.max(...node.parts.map(q => q.row))
    const used = [...new Set(node.parts.map(p => p.row))].sort((a, b) => a - b)
    for (const p of node.parts) p.row = used.indexOf(p.row)
    const rows = used.map(() => [])
    for (const p of node.parts) rows[p.row].push({part: p, w: p.w, want: []})
    for (const f of local) {
      f.start = f.source ? f.source.row : -1
      f.end = f.leaves ? rows.length : Math.max(f.start, ...f.to.map(t => t.row))
      f.lanes = []
      for (let r = f.start + 1; r < f.end; r++) rows[r].push(f.lanes[r] = {flow: f, w: 0, want: []})
    }
    const x = (f, r) => r == f.start && f.source ? f.source.x + out(f.source, f.from) : f.lanes[r] ? f.lanes[r].x : null
    rows.forEach((row, r) => {
      for (const f of local) {
        const from = x(f, r - 1)
        if (from === null || from === undefined) continue
        if (f.lanes[r]) f.lanes[r].want.push(from)
        for (const t of f.to) if (t.row == r) row.find(e => e.part === t).want.push(from)
      }
      const middle = r ? 0 : null
      row.forEach((e, i) => { e.goal = e.want.length ? e.want.reduce((a, b) => a + b) / e.want.length : e.flow ? 1e5 + i : middle ?? i })
      row.sort((a, b) => a.goal - b.goal)
      let right = -Infinity
      row.forEach((e, i) => {
        const gap = i && (e.flow && row[i - 1].flow) ? LANE : GAP
        e.left = e.goal > 9e4 ? (right > -Infinity ? right + gap : 0) : Math.max(e.goal - e.w / 2, right + gap)
        right = e.left + e.w
      })
      const boxes = row.filter(e => e.part), last = boxes[boxes.length - 1] // all rows have one middle: a long chain goes straight down
      const shift = last ? (boxes[0].left + last.left + last.w) / 2 : 0
      for (const e of row) { e.left -= shift; if (e.part) e.part.x = e.left; else e.x = e.left }
    })
    const every = rows.flat(), least = Math.min(...every.map(e => e.left)), head = node === root ? 0 : HEAD
    for (const e of every) { if (e.part) e.part.x += PAD - least; else e.x += PAD - least }
    node.w = Math.max(Math.max(...every.map(e => e.left + e.w)) - least + 2 * PAD, node === root ? 0 : width(`▾ ${node.name}`) + 24)
    let y = head
    node.tops = rows.map(row => { const top = y + BETWEEN; y = top + Math.max(0, ...row.map(e => e.part ? e.part.h : 0)); return top })
    node.ends = node.tops.map((t, r) => t + Math.max(0, ...rows[r].map(e => e.part ? e.part.h : 0)))
    node.h = y + (node === root ? 4 : BETWEEN)
    for (const p of node.parts) p.y = node.tops[p.row]
    node.flows = local
    node.ports = new Map()
    for (const f of local) {
      const first = f.source ? null : f.lanes[0] ? f.lanes[0].x : (t => t.x + into(t, f.from))(f.to.find(t => t.row == 0) || f.to[0])
      const last = f.leaves ? x(f, rows.length - 1) : null
      node.ports.set(f.from, {first, last})
    }
  }
  const into = (part, from) => part.open ? part.ports.get(from).first : part.w / 2
  const out = (part, from) => part.open ? part.ports.get(from).last : part.w / 2

  // --- drawing ---

  const make = (name, facts, parent, text) => {
    const e = document.createElementNS(svg.namespaceURI, name)
    for (const [k, v] of Object.entries(facts)) e.setAttribute(k, v)
    if (text !== undefined) e.textContent = text
    parent.append(e)
    return e
  }
  function lines(node, dx, dy, layer) {
    for (const f of node.flows) {
      const go = (x1, y1, x2, y2) => {
        const m = (y1 + y2) / 2
        make('path', {d: `M${dx + x1} ${dy + y1}C${dx + x1} ${dy + m} ${dx + x2} ${dy + m} ${dx + x2} ${dy + y2}`}, layer).from = f.from
      }
      const down = (x, y1, y2) => { if (y2 > y1) make('path', {d: `M${dx + x} ${dy + y1}V${dy + y2}`}, layer).from = f.from }
      for (let r = f.start; r < f.end; r++) {
        const inner = r == -1
        if (inner) down(node.ports.get(f.from).first, 0, HEAD)
        const here = inner ? node.ports.get(f.from).first : r == f.start ? f.source.x + out(f.source, f.from) : f.lanes[r].x
        const low = inner ? HEAD : node.ends[r]
        if (r == f.start && !inner) down(here, f.source.y + f.source.h, low)
        else if (!inner) down(here, node.tops[r], low)
        const next = r + 1 == node.tops.length ? node.h : node.tops[r + 1]
        if (r + 1 == node.tops.length) go(here, low, here, next)
        else if (f.lanes[r + 1]) go(here, low, f.lanes[r + 1].x, next)
        for (const t of f.to) if (t.row == r + 1) go(here, low, t.x + into(t, f.from), next)
      }
      for (const t of f.to) if (f.source && t.row <= f.start) back(f, t, dx, dy, layer)
    }
    for (const p of node.parts) if (p.open) lines(p, dx + p.x, dy + p.y, layer)
  }
  // Of a module whose instructions are not next to each other: what a later box gives to an earlier one.
  function back(f, t, dx, dy, layer) {
    const x1 = dx + f.source.x + out(f.source, f.from), y1 = dy + f.source.y + f.source.h
    const x2 = dx + t.x + into(t, f.from), y2 = dy + t.y + (t.open ? 0 : t.h)
    const by = t.open ? -40 : 40
    make('path', {d: `M${x1} ${y1}C${x1} ${y1 + 40} ${x2} ${y2 + by} ${x2} ${y2}`, class: 'back'}, layer).from = f.from
  }
  function boxes(node, dx, dy, layer, names) {
    for (const p of node.parts) {
      const g = make('g', {transform: `translate(${dx + p.x} ${dy + p.y})`, class: p.parts ? p.open ? 'open' : 'shut' : p.port ? 'port' : 'leaf'}, layer)
      make('rect', {width: p.w, height: p.h, rx: p.port ? LEAF / 2 : 7}, g)
      const line = (x, y, text, facts, to) => make('text', {x, y, ...facts}, to, text)
      const name = fit(p.parts ? `${p.open ? '▾' : '▸'} ${p.name}` : p.name, p.w - 12)
      if (p.open) line(dx + p.x + 12, dy + p.y + 17, name, {class: 'title over'}, names)
      else {
        line(p.w / 2, 17, name, {class: 'title', 'text-anchor': 'middle'}, g)
        line(p.w / 2, 31, fit(p.about, (p.w - 12) / .82), {class: 'about', 'text-anchor': 'middle'}, g)
      }
      make('title', {}, g, [p.title || p.key.slice(2), p.about].join('\n'))
      g.onpointerenter = () => glow(p)
      g.onpointerleave = () => glow(null)
      if (p.parts) {
        g.setAttribute('tabindex', 0)
        g.setAttribute('role', 'button')
        g.setAttribute('aria-expanded', p.open)
        g.onclick = e => { e.stopPropagation(); p.open = !p.open; draw(p) }
        g.onkeydown = e => { if (e.key == 'Enter' || e.key == ' ') { e.preventDefault(); g.onclick(e) } }
      } else if (p.link !== undefined) g.onclick = () => { location.hash = `m${data.method}i${p.link}` }
      p.drawn = g
      if (p.open) boxes(p, dx + p.x, dy + p.y, layer, names)
    }
  }
  function glow(p) {
    const reads = p && new Set([...now].filter(([, to]) => to.has(p)).map(([from]) => from))
    for (const path of svg.querySelectorAll('path')) path.classList.toggle('hot', !!p && (path.from === p || reads.has(path.from)))
  }
  let now = new Map()
  function draw(changed) {
    now = flows()
    arrange(root, now)
    svg.replaceChildren()
    const wide = root.w + 4, high = root.h + 4, scale = Math.min(1, Math.max(.75, place.clientWidth / wide))
    svg.setAttribute('viewBox', `-2 -2 ${wide} ${high}`)
    svg.style.width = `${wide * scale}px`
    svg.style.height = `${high * scale}px`
    const below = make('g', {}, svg), above = make('g', {class: 'lines'}, svg), top = make('g', {}, svg)
    boxes(root, 0, 0, below, top)
    lines(root, 0, 0, above)
    for (const e of [...below.children]) if (e.classList.contains('leaf') || e.classList.contains('shut') || e.classList.contains('port')) top.append(e)
    if (changed) { changed.drawn.focus({preventScroll: true}); changed.drawn.scrollIntoView({block: 'nearest', inline: 'nearest'}) }
    else place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2
  }
  const bar = place.previousElementSibling
  const button = (text, work) => { const b = document.createElement('button'); b.textContent = text; b.onclick = work; bar.append(b) }
  if (every.length) {
    button('Unfold all', () => { every.forEach(m => { m.open = true }); draw() })
    button('Fold all', () => { every.forEach(m => { m.open = m.up === root && root.parts.filter(p => p.parts).length == 1 }); draw() })
  }
  draw()

  function width(text) { return pen.measureText(text).width }
  function fit(text, most) {
    if (width(text) <= most) return text
    let n = text.length
    while (n > 1 && width(text.slice(0, n) + '…') > most) n--
    return text.slice(0, n) + '…'
  }
  function size(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
    let i = 0
    while (bytes >= 1024 && i < 4) { bytes /= 1024; i++ }
    return `${i ? bytes.toFixed(1) : bytes} ${units[i]}`
  }
}
for (const place of document.querySelectorAll('.graph')) drawGraph(place, JSON.parse(place.querySelector('script').textContent))
