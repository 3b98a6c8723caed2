"""Messages in German, Spanish, French and Japanese, some on a sensitive topic."""

TOUCHED = {
    ("de", "health"): """
Ich habe seit Tagen Kopfschmerzen|Mein Arzt hat Diabetes festgestellt
Ich bin schwanger und suche Schuhe|Welche Matratze hilft bei Rückenschmerzen?
Ich leide an Depressionen|Ist das Hotel für Rollstuhlfahrer geeignet?|Ich will abnehmen
Meine Allergie wird schlimmer|Ich liege im Krankenhaus
""",
    ("de", "religion"): """
Ich bin Muslim und suche einen Gebetsteppich|Wann ist der nächste Gottesdienst?
Wir feiern Ramadan|Ist das Fleisch halal?|Ich bin aus der Kirche ausgetreten
Geschenk zur Konfirmation|Ich glaube an Gott und lese die Bibel
Meine Familie ist jüdisch|Der Pfarrer kommt morgen
""",
    ("de", "finance"): """
Ich habe hohe Schulden|Mein Gehalt reicht nicht|Ich bin arbeitslos
Kann ich trotz Schufa bestellen?|Ich habe Privatinsolvenz angemeldet
Der Gerichtsvollzieher war da|Ich kann die Miete nicht mehr bezahlen
Mein Dispo ist ausgeschöpft|Wir leben von Bürgergeld
""",
    ("de", "sexual_life"): """
Ich bin schwul|Welche Kondome sind am besten?|Meine Frau ist fremdgegangen
Wir haben keinen Sex mehr|Ich bin lesbisch und suche eine Reise|Vibrator für Anfänger
Ich habe mich als bisexuell geoutet|Ich bin noch Jungfrau|Ich habe Erektionsprobleme
""",
    ("de", "politics"): """
Ich wähle die AfD|Die Regierung ist schuld|Ich bin Mitglied der SPD
Am Samstag gehe ich auf die Demo|Wie funktioniert die Bundestagswahl?
Ich mag Merkel nicht|Ich habe Asyl beantragt|Unsere Gewerkschaft ruft zum Streik auf
Ich bin Sozialist
""",
    ("de", "minors"): """
Mein Sohn braucht neue Schuhe|Ein Geschenk für meine fünfjährige Tochter
Ich bin 14 Jahre alt|Unsere Kinder schlafen schlecht|Ich bin noch minderjährig
Mein Baby weint viel|Meine Eltern erlauben das nicht|Ich suche etwas für meine Enkelin
Er geht in den Kindergarten
""",
    ("es", "health"): """
Me duele la cabeza|Tengo diabetes y busco dulces|Estoy embarazada
Mi médico me recetó reposo|Sufro de ansiedad|Tengo alergia a los frutos secos
¿El hotel es apto para silla de ruedas?|Me operaron de la rodilla|Quiero adelgazar
""",
    ("es", "religion"): """
Soy musulmán y busco comida halal|¿A qué hora es la misa?|Mi iglesia necesita sillas
Soy ateo|Un regalo para el bautizo|Rezo todos los días|Somos testigos de Jehová
Busco una Biblia grande|Mi familia es judía
""",
    ("es", "finance"): """
Tengo muchas deudas|Mi sueldo no alcanza|Estoy en paro|No puedo pagar el alquiler
Me van a embargar|No llego a fin de mes|Me declararon en bancarrota|Estoy en ASNEF
Perdí mi trabajo
""",
    ("es", "sexual_life"): """
Soy gay|¿Qué preservativos son mejores?|Mi mujer me engañó|Ya no tenemos sexo
Soy lesbiana y viajo con mi novia|Un vibrador para principiantes|Todavía soy virgen
Quiero salir del armario|Tengo problemas de erección
""",
    ("es", "politics"): """
Voto al PSOE|El gobierno miente|¿A quién debo votar en las elecciones?
Voy a la manifestación|Soy socialista|Mi sindicato convocó una huelga
Odio a los políticos|Apoyo a Palestina|Soy feminista
""",
    ("es", "minors"): """
Un regalo para mi hijo|Mi hija necesita zapatos|Tengo 14 años|Soy menor de edad
Mis padres no me dejan comprarlo|Juguetes para un niño de 5 años|Nuestro bebé no duerme
Mi sobrina cumple 8|Busco algo para mis nietos
""",
    ("fr", "health"): """
J'ai mal à la tête|Je suis enceinte|Mon médecin m'a prescrit du repos
Je souffre de dépression|J'ai une allergie aux noix|Je suis diabétique
L'hôtel est-il accessible en fauteuil roulant ?|Je veux perdre du poids
J'ai été opéré du genou, l'hôpital m'a gardé
""",
    ("fr", "religion"): """
Je suis musulman et cherche de la viande halal|À quelle heure est la messe ?
Notre église a besoin de chaises|Je suis athée|Un cadeau de baptême
Je prie tous les jours|Nous fêtons le ramadan|Je cherche une Bible|Ma famille est juive
""",
    ("fr", "finance"): """
J'ai beaucoup de dettes|Mon salaire ne suffit pas|Je suis au chômage
Je ne peux pas payer le loyer|Je suis interdit bancaire|Un huissier est venu
Nous sommes en surendettement|Je suis toujours à découvert|J'ai perdu mon emploi
""",
    ("fr", "sexual_life"): """
Je suis gay|Quels préservatifs choisir ?|Ma femme m'a trompé
Nous n'avons plus de rapports sexuels|Je suis lesbienne|Un vibromasseur pour débuter
Je suis encore vierge|J'ai fait mon coming out|J'ai des problèmes d'érection
""",
    ("fr", "politics"): """
Je vote à gauche|Le gouvernement ment|Pour qui voter aux élections ?
Je vais à la manif samedi|Je suis socialiste|Mon syndicat appelle à la grève
Je déteste Macron|Je soutiens la Palestine|Je suis féministe
""",
    ("fr", "minors"): """
Un cadeau pour mon fils|Ma fille a besoin de chaussures|J'ai 14 ans|Je suis mineure
Mes parents ne me laissent pas sortir|Un jouet pour un enfant de 5 ans
Notre bébé ne dort pas|Je suis au collège|Mon petit frère a cassé la tablette
""",
    ("ja", "health"): """
頭痛がひどいです|糖尿病なので甘くないお菓子を探しています|妊娠しています|医者に手術を勧められました|うつ病で働けません|ナッツのアレルギーがあります|車椅子で入れますか
痩せたいです|腰が痛いので椅子が欲しい
""",
    ("ja", "religion"): """
私はイスラム教徒です|ハラールのレストランはありますか|教会で使う椅子を探しています|毎日お祈りをします|聖書が欲しいです|仏教に興味があります|ラマダン中の食事
キリスト教の式に着る服|私は無神論者です
""",
    ("ja", "finance"): """
借金があります|給料が少なくて困っています|自己破産しました|家賃が払えない|失業中です|生活保護を受けています|ローンの審査に落ちました|年収は三百万です|お金に困っています
""",
    ("ja", "sexual_life"): """
私はゲイです|コンドームのおすすめは|夫が浮気しました|セックスレスで悩んでいます|同性愛者のための旅行|トランスジェンダーです|まだ童貞です|不倫をしています
性欲がありません
""",
    ("ja", "politics"): """
自民党に投票しました|政府は嘘をついている|選挙で誰を選べばいい|デモに参加します|首相が嫌いです|労働組合に入っています|私は右翼ではない|難民として来ました
トランプを支持します
""",
    ("ja", "minors"): """
息子の靴を探しています|5歳の誕生日プレゼント|私は14歳です|娘が学校に行きません|まだ未成年です|赤ちゃんが眠りません|中学生です|孫にあげたい|うちの子はレゴが好きです
""",
}

UNTOUCHED = {
    "de": """
Günstige Flüge nach Rom|Wo bleibt mein Paket?|Ich suche ein rotes Kleid
Das Handy ist kaputt|Überweise 50 Euro an Tom|Wie hoch sind die Gebühren?
Gott sei Dank, es geht wieder|Ein Zimmer für zwei Erwachsene und zwei Kinder
Ein Kleid für die Party|Ich habe die Wahl zwischen zwei Modellen
Meine Karte wurde abgelehnt|Eine Hose in Größe 38|Ich möchte umbuchen
Ein Krimi für den Urlaub|Der Akku ist schwach|Ich hasse dieses Handy|Ein Zimmer mit Bad
Das Essen war gut|Wie wird das Wetter?|Eine grüne Tasche|Der Preis ist zu hoch
Zug nach Hamburg um acht|Ich bin 45 und suche ein Fahrrad
Bitte stornieren Sie die Bestellung|Ein Laptop unter 500 Euro
""",
    "es": """
Vuelos baratos a Roma|¿Dónde está mi pedido?|Busco un vestido rojo
El teléfono no funciona|Transfiere 50 euros a Tom|¿Cuánto cuestan las comisiones?
Una habitación para dos adultos y dos niños|Un vestido para la fiesta
Mi tarjeta fue rechazada|Unos pantalones talla 38|Quiero cambiar la reserva
Una novela para las vacaciones|La batería dura poco|Odio este teléfono
Habitación con baño|La comida estaba buena|¿Qué tiempo hace?|Un bolso verde
El precio es muy alto|Un tren a Madrid a las ocho|Tengo 45 y busco una bicicleta
Cancele el pedido, por favor|Un portátil por menos de 500 euros
aceite de oliva virgen extra|Un hotel en Santa Fe
""",
    "fr": """
Vols pas chers pour Rome|Où est mon colis ?|Je cherche une robe rouge
Le téléphone est cassé|Vire 50 euros à Tom|Quels sont les frais ?
Une chambre pour deux adultes et deux enfants|Une robe pour la fête
Ma carte a été refusée|Un pantalon taille 38|Je veux changer ma réservation
Un roman pour les vacances|La batterie est faible|Je déteste ce téléphone
Une chambre avec bain|Le repas était bon|Quel temps fait-il ?|Un sac vert
Le prix est trop élevé|Un train pour Lyon à huit heures
J'ai 45 ans et je cherche un vélo|Annulez la commande, s'il vous plaît
Un ordinateur à moins de 500 euros|de l'huile d'olive vierge extra
Mon dieu, que c'est lent
""",
    "ja": """
ローマ行きの安い航空券|荷物はどこですか|赤いドレスを探しています|スマホが壊れました|トムに五千円送って|手数料はいくらですか|大人二人の部屋|パーティー用の服
カードが使えません|サイズ38のズボン|予約を変更したい|旅行に持っていく小説|電池がすぐ切れます|このスマホが嫌い|お風呂つきの部屋|ご飯がおいしかった|明日の天気は
緑のかばん|値段が高すぎます|八時の電車|自転車が欲しい|注文を取り消してください|安いパソコン|新しい机|おすすめの映画
""",
}
