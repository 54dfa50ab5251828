import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const forge = 'https://github.com/cardgateway/cardgateway-go'

// The files that are pages, with their names on the site. All others are on the forge.
const pages: Record<string, string> = {
  'site/index.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'proof/README.md': 'proof.md',
  'proof/RESULTS.md': 'results.md',
  'proof/bench/RESULTS.md': 'benchmarks.md',
  'examples/shop/README.md': 'shop.md',
  'temporal/README.md': 'temporal.md',
}
const siteOf = (file: string) =>
  pages[file] ?? (/^docs\/[\w-]+\.md$/.test(file) ? file.slice('docs/'.length) : /^site\/api\/[\w-]+\.md$/.test(file) ? file.slice('site/'.length) : undefined)

// The pages are read on the forge too, where their links lead to files. On the site they lead to its pages, or to the forge.
const link = (href: string, from: string) => {
  const [path, hash] = href.split(/(?=#)/)
  if (/^(#|[a-z]+:)/.test(href)) return href
  const file = relative(repository, resolve(dirname(from), path))
  const page = siteOf(file)
  if (page) return '/' + page + (hash ?? '')
  if (!existsSync(join(repository, file))) throw new Error(`${from}: there is no ${href}`)
  return `${forge}/blob/main/${file}${hash ?? ''}`
}

// A heading has the id that the forge gives it.
const slugify = (heading: string) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

// A part of the sidebar: each page has its title there.
const section = (text: string, ...files: string[]) => ({
  text,
  items: files.map((file) => ({
    text: readFileSync(join(repository, file), 'utf8').match(/^# (.+)$/m)![1],
    link: '/' + siteOf(file)!.replace(/(^index)?\.md$/, ''),
  })),
})

// The width and height of an SVG with a viewBox, or of a PNG.
const sizeOf = (picture: Buffer): string[] =>
  picture.toString('utf8', 0, 2000).match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/)?.slice(1) ?? [16, 20].map((at) => `${picture.readUInt32BE(at)}`)

// A card, in the page itself: no browser asks for /favicon.ico.
const icon =
  'data:image/svg+xml,' +
  encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect y="2" width="16" height="12" rx="2" fill="#3451b2"/><path d="M0 5h16v3H0z" fill="#fff"/></svg>')

// What the search finds: not the pages about the project itself, whose words are those of all others, and of those about the exported
// names only the headings: then the index is small, and the search begins at once. A name in a heading is a link to its code, which the
// search would leave out.
const aboutTheProject = ['architecture.md', 'proof.md', 'results.md', 'benchmarks.md', 'changelog.md']
const searched = (file: string, html: string) => {
  if (aboutTheProject.includes(siteOf(file) ?? file)) return ''
  if (/\bapi\/(?!commands)/.test(file)) html = (html.match(/<h[1-6][^]*?<\/h[1-6]>/g) ?? []).map((h) => h + '<p>-</p>').join('') // a heading without a text is left out
  return html.replace(/(<h[1-6][^>]*>[^<]*)<a href="https?:[^>]*>(.*?)<\/a>/g, '$1$2')
}

export default defineConfig({
  srcDir: '..',
  srcExclude: ['README.md', 'proof/simulation/**', 'testdata/**', 'examples/**/testdata/**'],
  rewrites: (file) => siteOf(file) ?? file,
  title: 'cardgateway-go',
  description: 'A Go client for a card payment gateway',
  lang: 'en',
  head: [['link', { rel: 'icon', href: icon }]],
  // The pages are outside of this directory, where Vite does not find its modules when it renders them.
  vite: {
    plugins: [
      {
        name: 'modules-of-pages',
        enforce: 'pre',
        resolveId: (id, _, { ssr }) => (ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null),
      },
    ],
  },
  router: { prefetchLinks: false },
  // The theme's script adds these classes: without them the bar at the top moves while a page is loaded.
  transformHtml: (html, file) => (file.endsWith('404.html') ? html : html.replace('class="VPNavBar"', 'class="VPNavBar has-sidebar top"')),
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      md.renderer.rules.table_close = () => '</table><i hidden></i>' // style.css shows a table as soon as something follows it
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const token of tokens.flatMap((t) => t.children ?? t)) {
          token.content = token.type.startsWith('html') ? token.content.replace(/ (src|srcset)="(?=\w)(?!\w+:)/g, ' $1="./').replace(/<img /g, '<img loading="lazy" ') : token.content
          const href = token.attrGet('href')
          if (token.type === 'image') { // with its size, or the page moves when it is loaded
            const [width, height] = sizeOf(readFileSync(resolve(dirname(env.realPath ?? env.path), token.attrGet('src')!)))
            token.attrSet('width', width)
            token.attrSet('height', height)
            token.attrSet('loading', 'lazy')
          }
          if (token.type === 'link_open' && href) token.attrSet('href', link(href, env.realPath ?? env.path))
        }
      })
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        _render: (src, env, md) => searched(env.relativePath, md.render(src, env)),
        miniSearch: {
          // A page about a word comes before a part of another page, and what explains something before the names that have the word.
          searchOptions: {
            boostDocument: (id: string, _: string, stored?: { titles?: string[] }) => (id.includes('/api/') ? 0.33 : 1) * (stored?.titles?.length ? 1 : 1.6),
            // Words that others have for what the pages explain.
            processTerm: (word: string) => {
              const ours = new Map([['dispute', 'chargeback'], ['settlement', 'payout'], ['recurring', 'subscription'], ['double', 'twice'], ['kubernetes', 'docker']])
              const asked = word.toLowerCase()
              return ours.get(asked) ?? ours.get(asked.replace(/s$/, '')) ?? asked
            },
          },
        },
      },
    },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: forge }],
    sidebar: [
      section('Start', 'site/index.md', 'docs/start.md', 'docs/program.md'),
      section('When you need it', ...['outcomes', 'journal', 'notifications', 'refunds', 'walks', 'sandbox', 'tool', 'reconcile', 'operation'].map((name) => `docs/${name}.md`)),
      section(
        'Exported names, with examples',
        ...['cardgateway', 'journal', 'journal-sqlite', 'journal-sqlstore', 'journal-journaltest', 'notify', 'sandbox', 'otel', 'temporal']
          .map((name) => `site/api/${name}.md`),
      ),
      section('Command-line tool', 'site/api/commands.md'),
      section('For contributors', 'docs/architecture.md', 'proof/README.md', 'proof/RESULTS.md', 'proof/bench/RESULTS.md', 'temporal/README.md', 'examples/shop/README.md', 'CHANGELOG.md'),
    ],
  },
})
