// The default theme with the fonts of the reader's system, and with a landmark on the page for a wrong address.
import { withBase } from 'vitepress'
import { h } from 'vue'
import Theme from 'vitepress/theme-without-fonts'
import './style.css'

export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, { 'not-found': () => h('main', { class: 'vp-doc not-found' }, [h('h1', 'There is no such page'), h('a', { href: withBase('/') }, 'cardgateway-go')]) }),
}
