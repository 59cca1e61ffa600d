/* Runs the script of a page that hrun-calibrate report has made, in a document of the few functions that it uses, and
 * prints what it shows as JSON: texts of headings and captions, rows of tables, and attributes that are no values. */
'use strict';
const fs = require('fs');

class Element {
    constructor(tag) {
        Object.assign(this, {tag, attrs: {}, kids: [], textContent: '', namespaceURI: 'svg'});
    }
    setAttribute(k, v) {
        this.attrs[k] = String(v);
    }
    append(...kids) {
        for (const kid of kids)
            if (kid !== null && typeof kid === 'object' && !(kid instanceof Element))
                throw new Error('appended: ' + kid);
        this.kids.push(...kids);
    }
}
const text = e => e instanceof Element ? e.kids.map(text).join('') : String(e);
const all = (e, tag) => !(e instanceof Element) ? [] : (e.tag === tag ? [e] : []).concat(...e.kids.map(k => all(k, tag)));

const page = fs.readFileSync(process.argv[2], 'utf8');
const inside = (begin, end) => page.split(begin)[1].split(end)[0];
const main = new Element('main'), data = new Element('script');
data.textContent = inside('id="data">', '</script>');
const document = {getElementById: id => ({main, data, svg: new Element('svg')})[id], createElement: t => new Element(t),
                  createElementNS: (ns, t) => new Element(t)};
new Function('document', inside('<script>\n', '</script>'))(document);

const bad = [];
const check = e => {
    if (!(e instanceof Element))
        return /NaN|undefined|Infinity/.test(e) && bad.push(e);
    for (const [k, v] of Object.entries(e.attrs))
        if (/NaN|undefined|Infinity|null/.test(v))
            bad.push(`${e.tag} ${k}=${v}`);
    e.kids.forEach(check);
};
check(main);
console.log(JSON.stringify({bad, words: text(main), sections: all(main, 'h2').map(text),
    figures: all(main, 'figure').map(f => text(all(f, 'b')[0])), captions: all(main, 'figcaption').map(text),
    rows: all(main, 'tr').map(r => r.kids.map(text))}));
