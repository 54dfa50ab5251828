package simulation

import (
	"strings"

	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// damage makes the entry of a thing unreadable, as another program or a bad disk would, and repair undoes it. In memory there
// is nothing to damage.
func (d *database) damage(t *thing, repair bool) bool {
	from, to := `{"`, `{?"`
	if repair {
		from, to = to, from
	}
	statement := `UPDATE cardgateway_journal SET intent = replace(intent, ?, ?) WHERE shop = ? AND transaction_id = ?`
	if d.dialect == sqlstore.Postgres {
		statement = strings.NewReplacer("intent, ?, ?", "intent, $1, $2", "shop = ?", "shop = $3", "id = ?", "id = $4").Replace(statement)
	}
	key := t.key()
	result, err := d.readDB.Exec(statement, from, to, key.Shop.String(), key.ID.String())
	if err != nil {
		return false
	}
	n, err := result.RowsAffected()
	return err == nil && n > 0
}
